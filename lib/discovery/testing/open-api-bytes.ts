// Documents of OpenAPI with all their bytes at hand, for tests.
import { systemClock } from '../../base/clock.ts';
import type { OpenApiForm } from '../openapi-fragments.ts';
import { createOpenApi } from '../openapi.ts';
import type { OpenApi, OpenApiDocument, OpenApiOptions } from '../openapi.ts';

export interface BytesDocument {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

export interface OpenApiBytes {
  readonly openApi: OpenApi;
  whole(form: OpenApiForm): Promise<BytesDocument>;
  index(): Promise<BytesDocument>;
  part(path: string, form: OpenApiForm): Promise<BytesDocument | undefined>;
}

export function openApiBytes(
  options: Omit<OpenApiOptions, 'clock'> & Partial<Pick<OpenApiOptions, 'clock'>>,
): OpenApiBytes {
  const openApi = createOpenApi({ clock: systemClock, ...options });
  return {
    openApi,
    whole: async (form) => allOf(await openApi.whole(form)),
    index: async () => allOf(await openApi.index()),
    async part(path, form) {
      const document = await openApi.part(path, form);
      return document === undefined ? undefined : allOf(document);
    },
  };
}

const allOf = async (document: OpenApiDocument): Promise<BytesDocument> => ({
  hash: document.hash,
  bytes: Buffer.concat([...(await document.bytes())]),
});
