package process

import (
	"bytes"

	"koordinator.sh/koord/agent/host/files"
)

// Boot identifies what runs since the machine was started; empty when it cannot be told.
func Boot(proc files.FS) string {
	content, err := proc.Read("sys/kernel/random/boot_id", nil)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(content))
}
