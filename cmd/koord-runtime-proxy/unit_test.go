package main

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// settingsOf reads a unit of systemd: the values of each name, with lines that end in a backslash joined to the next.
func settingsOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(content), "\\\n", " ")) {
		name, value, isSetting := strings.Cut(strings.TrimSpace(line), "=")
		if isSetting && !strings.HasPrefix(name, "#") {
			out[name] = append(out[name], value)
		}
	}
	return out
}

// TestTheUnitStartsThisProgram with flags that it has, and everything that it writes lies where the unit lets it.
func TestTheUnitStartsThisProgram(t *testing.T) {
	unit := settingsOf(t, "../../deploy/systemd/koord-runtime-proxy.service")
	if len(unit["ExecStart"]) != 1 || len(unit["RuntimeDirectory"]) != 1 || !slices.Equal(unit["ProtectSystem"], []string{"strict"}) {
		t.Fatalf("the unit starts %q in %q with the system %q", unit["ExecStart"], unit["RuntimeDirectory"], unit["ProtectSystem"])
	}
	words := strings.Fields(unit["ExecStart"][0])
	command := newCommand()
	if program := words[0]; !path.IsAbs(program) || path.Base(program) != command.Name() {
		t.Errorf("%q is started, want %s", program, command.Name())
	}
	if err := command.ParseFlags(words[1:]); err != nil {
		t.Fatalf("the program does not take %q: %v", words[1:], err)
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		t.Errorf("the program does not take %q: %v", command.Flags().Args(), err)
	}
	value := func(flag string) string { return command.Flag(flag).Value.String() }
	runtime := path.Join("/var/run", unit["RuntimeDirectory"][0]) + "/"
	for _, flag := range []string{"koord-runtimeproxy-endpoint", "state-dir"} {
		if at := value(flag); !strings.HasPrefix(at, runtime) {
			t.Errorf("%s is %s, outside of %s, which is all that the unit lets it write", flag, at, runtime)
		}
	}
	if own, theirs := value("koord-runtimeproxy-endpoint"), value("remote-runtime-service-endpoint"); own == theirs || !path.IsAbs(theirs) {
		t.Errorf("the runtime is at %s, and kubelet is told %s", theirs, own)
	}
}
