// The forms in which benchmarks list Pods, with what each is to reach of a bare server.

const partial = 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

export const listForms = {
  json: { accept: 'application/json', reach: 0.75 },
  protobuf: { accept: 'application/vnd.kubernetes.protobuf', reach: 0.75 },
  table: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io', reach: 0.75 },
  metadata: { accept: `application/json;${partial}`, reach: 0.75 },
  gzip: { accept: 'application/json', reach: 0.5 },
} as const;

export type ListForm = keyof typeof listForms;
