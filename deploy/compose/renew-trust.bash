# Run in the container of the balancer when the CA of the replicas changes: haproxy believes what
# the file says now. Nothing restarts and no connection ends.
set -euo pipefail
file=/secrets/cluster-ca.crt

ask() {
  exec 3<>/dev/tcp/127.0.0.1/8405
  printf '%s\n' "$1" >&3
  mapfile -t answer <&3
  exec 3>&-
  printf '%s\n' "${answer[@]}"
}

# An empty line ends the certificates.
ask "set ssl ca-file $file <<"$'\n'"$(<"$file")"$'\n'
committed=$(ask "commit ssl ca-file $file")
printf '%s\n' "$committed"
[[ $committed == *Success* ]]
