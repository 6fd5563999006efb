// The admin's client configuration file: cluster, certificate and context in one YAML text.

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export function kubeconfig(options: {
  readonly server: string;
  readonly caCert: string;
  readonly client: { readonly key: string; readonly cert: string };
}): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: ${options.server}
    certificate-authority-data: ${base64(options.caCert)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(options.client.cert)}
    client-key-data: ${base64(options.client.key)}
contexts:
- name: local
  context:
    cluster: local
    user: admin
current-context: local
`;
}
