// Whoever answers single requests: a replica that was started here, or one in a container.

export interface Asks {
  readonly url: string;
  request(
    method: string,
    path: string,
    options?: { readonly body?: object },
  ): Promise<{ readonly status: number; readonly text: string }>;
}

export const configMaps = '/api/v1/namespaces/default/configmaps';
