package kubectlplugin

import (
	"os"
	"strings"
	"testing"
)

// TestTheREADMENamesEveryCommand: who reads the table knows what there is.
func TestTheREADMENamesEveryCommand(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(text), "| `koordctl` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, command := range NewCommand(Options{Name: "koordctl"}).Commands() {
		if command.IsAvailableCommand() && command.Name() != "help" && !strings.Contains(row, "`"+command.Name()+"`") {
			t.Errorf("the table lacks %q:%s", command.Name(), row)
		}
	}
}
