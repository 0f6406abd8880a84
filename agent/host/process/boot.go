package process

import (
	"bytes"

	"koordinator.sh/koord/agent/host/files"
)

// Boot identifies the current boot of the machine; empty when it is unknown.
func Boot(proc files.FS) string {
	content, err := proc.Read("sys/kernel/random/boot_id", nil)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(content))
}
