#!/bin/sh
# Makes every certificate and key of a set-up of three machines into FOLDER, one folder a machine:
#   certificates.sh FOLDER SERVICE_NAME a=10.0.0.1 b=10.0.0.2 c=10.0.0.3
# FOLDER/authorities has the keys of the CAs: keep them off the machines. What is there is kept, so
# the script run again makes only what is missing (removed, to be renewed).
set -eu
umask 077
folder=$1 service=$2
shift 2
mkdir -p "$folder/authorities"

# NAME: a CA, good for ten years. Its key identifier tells it from its successor of the same name.
authority() {
  [ -e "$folder/authorities/$1.crt" ] && return
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
    -subj "/CN=$1-ca" -addext 'basicConstraints=critical,CA:TRUE' \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -keyout "$folder/authorities/$1.key" -out "$folder/authorities/$1.crt" 2>/dev/null
}

# AUTHORITY FILE SUBJECT USAGES [NAMES]: a pair, good for a year.
pair() {
  [ -e "$2.crt" ] && return
  echo "$2.crt"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$3" \
    -keyout "$2.key" -out "$2.csr" 2>/dev/null
  {
    echo "basicConstraints=critical,CA:FALSE"
    echo "keyUsage=critical,digitalSignature"
    echo "extendedKeyUsage=$4"
    echo "authorityKeyIdentifier=keyid"
    if [ -n "${5:-}" ]; then echo "subjectAltName=$5"; fi
  } >"$2.ext"
  openssl x509 -req -in "$2.csr" -CA "$folder/authorities/$1.crt" \
    -CAkey "$folder/authorities/$1.key" -CAcreateserial -days 365 -extfile "$2.ext" \
    -out "$2.crt" 2>/dev/null
  rm "$2.csr" "$2.ext"
}

authority etcd
authority serving
authority users
accounts="$folder/authorities/service-accounts"
if [ ! -e "$accounts.key" ]; then
  openssl ecparam -name prime256v1 -genkey -noout -out "$accounts.key"
  openssl ec -in "$accounts.key" -pubout -out "$accounts.pub" 2>/dev/null
fi

for machine in "$@"; do
  name=${machine%%=*} address=${machine#*=}
  of="$folder/$name"
  mkdir -p "$of/etcd" "$of/apiserver"
  # Members look at the address that another one connects from; 127.0.0.1 is for tools beside them.
  pair etcd "$of/etcd/member" "/CN=$name" serverAuth,clientAuth "IP:$address,IP:127.0.0.1,DNS:$name"
  cp "$folder/authorities/etcd.crt" "$of/etcd/ca.crt"
  pair etcd "$of/apiserver/etcd-client" "/CN=apiserver-$name" clientAuth
  cp "$folder/authorities/etcd.crt" "$of/apiserver/etcd-ca.crt"
  pair serving "$of/apiserver/tls" "/CN=apiserver" serverAuth \
    "IP:$address,IP:127.0.0.1,DNS:$name,DNS:$service,DNS:localhost,DNS:kubernetes.default.svc"
  # With its CA: each replica's own admin.kubeconfig checks the certificate against this file.
  grep -qF "$(sed -n 2p "$folder/authorities/serving.crt")" "$of/apiserver/tls.crt" ||
    cat "$folder/authorities/serving.crt" >>"$of/apiserver/tls.crt"
  cp "$folder/authorities/users.crt" "$of/apiserver/users-ca.crt"
  cp "$accounts.key" "$accounts.pub" "$of/apiserver/"
done
pair users "$folder/admin" "/O=system:masters/CN=admin" clientAuth
