package simulation

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	// The scheduler listens for a signal. Whoever does that first starts goroutines for the whole process, which must not be
	// those of a simulation.
	first := make(chan os.Signal, 1)
	signal.Notify(first, syscall.SIGUSR2)
	signal.Stop(first)
	os.Exit(m.Run())
}
