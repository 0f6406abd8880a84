#!/usr/bin/env bash
# Fetches the kernel of the guest that `make guest-test` tests in, from the package sources of this machine into bin/guest. What
# is there is not fetched again; remove bin/guest for a newer one. Nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

package=linux-image-cloud-amd64 # Debian's kernel for virtual machines: small, with cgroups, pressure and disks built in
out=$PWD/${BIN:-bin}/guest

fail() {
	echo "guest: error: $*" >&2
	exit 1
}

command -v qemu-system-x86_64 >/dev/null ||
	fail "no qemu-system-x86_64 here; install it: apt-get install --no-install-recommends qemu-system-x86"
if [[ -s $out/vmlinuz && -s $out/.version ]]; then
	echo "guest: kernel $(cat "$out/.version") is in ${out#"$PWD/"}" >&2
	exit
fi
for program in apt-cache apt-get dpkg-deb; do
	command -v "$program" >/dev/null || fail "no $program here: the guest's kernel comes from a package of Debian"
done

# The package only names the one with the kernel, whose name has the version.
newest() { apt-cache depends "$package" 2>/dev/null | sed -nE 's/^ *Depends: (linux-image-[0-9.]+.*)$/\1/p' | head -1; }
kernel=$(newest)
if [[ -z $kernel && $EUID == 0 ]]; then
	apt-get update -q >&2 || fail "the package sources of this machine cannot be reached"
	kernel=$(newest)
fi
[[ -n $kernel ]] || fail "the package sources of this machine know no $package; run: apt-get update"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download -q "$kernel") >&2 || fail "$kernel could not be downloaded from the package sources of this machine"
dpkg-deb -x "$work"/*.deb "$work/files"
mkdir -p "$out"
rm -f "$out/.version"
cp "$work"/files/boot/vmlinuz-* "$out/vmlinuz"
dpkg-deb -f "$work"/*.deb Package Version | sed 's/^[^ ]* //' | paste -sd' ' >"$out/.version"
echo "guest: fetched kernel $(cat "$out/.version") into ${out#"$PWD/"}" >&2
