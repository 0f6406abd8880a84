package livecgroup

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if given := os.Getenv(agentVariable); given != "" {
		os.Exit(runAgent(given))
	}
	Main(m)
}
