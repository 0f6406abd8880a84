#!/bin/sh
# What mpiexec calls for each host in place of ssh: `mpi_ssh.sh -x HOST COMMAND...`. The pod of that host name runs the command once it is there.
shift
host=$1
shift
echo "$*" >"$MAIL/$host.new"
mv "$MAIL/$host.new" "$MAIL/$host"
