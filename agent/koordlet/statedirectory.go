package koordlet

import (
	"fmt"
	"os"
)

// writable makes the state directory, and says why files cannot be kept in it. That is no reason not to start: the agent measures and
// reports without, and holds on to what an agent before it has kept the originals of.
func writable(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return fmt.Errorf("create the state directory: %w", err)
	}
	probe, err := os.CreateTemp(directory, "probe.*")
	if err != nil {
		return fmt.Errorf("write into the state directory: %w", err)
	}
	defer func() { _ = os.Remove(probe.Name()) }() // it is empty
	if _, err = probe.Write([]byte{0}); err == nil {
		err = probe.Sync() // a full disk may say so only then
	}
	if closed := probe.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write into the state directory: %w", err)
	}
	return nil
}
