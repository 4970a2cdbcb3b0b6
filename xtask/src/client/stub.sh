#!/bin/sh
# stub ID: keeps the working directory (line 1) and stdin (the rest) of this run in
# $STUB_LOG/ID.<random>, then does what the file ID.sh beside this program says.
id=$1
log=$(mktemp "$STUB_LOG/$id.XXXXXX") || exit 99
{
  pwd -P
  cat
} >"$log"
said=$(dirname "$0")/$id.sh
if [ -f "$said" ]; then
  . "$said"
fi
exit 0
