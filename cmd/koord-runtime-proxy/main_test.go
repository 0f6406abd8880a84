package main

import (
	"io"
	"strings"
	"testing"
)

// TestDockerIsRefused as an operator sees it who comes from another proxy.
func TestDockerIsRefused(t *testing.T) {
	command := newCommand()
	command.SetArgs([]string{"--backend-runtime-mode=Docker"})
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	var out strings.Builder
	err := command.ExecuteContext(t.Context())
	if err == nil {
		t.Fatal("it runs")
	}
	tell(&out, err)
	for _, want := range []string{"error: start koord-runtime-proxy: backend-runtime-mode \"Docker\": dockerd does not support CRI", "\nhint: run cri-dockerd", "\nKOORD0007: see koordctl why KOORD0007\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}
