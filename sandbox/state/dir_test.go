package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHome(t *testing.T) {
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		environment map[string]string
		want        string
		wantError   string
	}{
		"nothing but a home directory": {
			environment: map[string]string{"HOME": "/home/ada"},
			want:        "/home/ada/.local/state/koord",
		},
		"the XDG state directory comes before the home directory": {
			environment: map[string]string{"HOME": "/home/ada", "XDG_STATE_HOME": "/var/ada"},
			want:        "/var/ada/koord",
		},
		"a relative XDG state directory is ignored, as its specification demands": {
			environment: map[string]string{"HOME": "/home/ada", "XDG_STATE_HOME": "state"},
			want:        "/home/ada/.local/state/koord",
		},
		"our own variable comes first and is taken as it is": {
			environment: map[string]string{"HOME": "/home/ada", "XDG_STATE_HOME": "/var/ada", HomeVariable: "/scratch"},
			want:        "/scratch",
		},
		"our own variable may be relative to where the user is": {
			environment: map[string]string{HomeVariable: "scratch"},
			want:        filepath.Join(working, "scratch"),
		},
		"no variable at all": {
			wantError: "neither HOME nor KOORD_STATE_HOME is set",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Home(func(name string) string { return tc.environment[name] })
			if got != tc.want || !says(err, tc.wantError) {
				t.Errorf("Home() = %q, %v; want %q, error %q", got, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestPathsStayBelowTheSandbox(t *testing.T) {
	dir := Open("/state", "demo")
	got := map[string]string{
		"path": dir.Path(), "lock": dir.Lock(), "kubeconfig": dir.Kubeconfig(), "pki": dir.PKI(), "etcd": dir.EtcdData(),
		"config": dir.Config(), "logs": dir.Logs(), "log": dir.Log("etcd"), "at": At(dir.Path()).Lock(),
	}
	const base = "/state/sandboxes/demo"
	want := map[string]string{
		"path": base, "lock": base + "/lock", "kubeconfig": base + "/kubeconfig", "pki": base + "/pki", "etcd": base + "/etcd",
		"config": base + "/config", "logs": base + "/logs", "log": base + "/logs/etcd.log", "at": base + "/lock",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestList(t *testing.T) {
	home := t.TempDir()
	if got, err := List(home); err != nil || got != nil {
		t.Fatalf("List() before the first sandbox = %v, %v; want none", got, err)
	}
	for _, name := range []string{"zeta", "alpha"} {
		dir := create(t, home, name)
		if err := dir.WriteSpec(Spec{Name: name, Speed: 1}); err != nil {
			t.Fatal(err)
		}
	}
	create(t, home, "never-started")
	if err := os.WriteFile(filepath.Join(home, "sandboxes", "a-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := List(home)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"alpha", "zeta"}, got); diff != "" {
		t.Errorf("List() (-want +got):\n%s", diff)
	}
	if err := Open(home, "zeta").Remove(); err != nil {
		t.Fatal(err)
	}
	if got, err := List(home); err != nil || !cmp.Equal(got, []string{"alpha"}) {
		t.Errorf("List() after Remove() = %v, %v; want alpha alone", got, err)
	}
}

func TestListOfADirectoryThatIsAFile(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "sandboxes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := List(home); !says(err, "list sandboxes: ") {
		t.Errorf("List() = %v; want an error that says what failed", err)
	}
}

func TestCreateIsForTheUserAlone(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	for _, path := range []string{dir.Path(), dir.PKI(), dir.Config(), dir.Logs()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("mode of %s = %o; want 700", path, got)
		}
	}
}

func TestSpecSurvives(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	if dir.Exists() {
		t.Error("Exists() = true before the spec was written")
	}
	if _, err := dir.ReadSpec(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadSpec() before the spec was written = %v; want that it does not exist", err)
	}
	want := Spec{
		Name: "demo", Nodes: 12, Scenario: "colocation", Trace: "/data/usage.csv", Seed: 1<<64 - 1, Speed: 2.5,
		APIServerPort: 6443, KubernetesBinaries: "/opt/kubernetes", Binaries: "/opt/koord",
	}
	if err := dir.WriteSpec(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadSpec()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadSpec() (-want +got):\n%s", diff)
	}
	if !dir.Exists() {
		t.Error("Exists() = false after the spec was written")
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	tests := map[string]struct {
		content string
		read    func(Dir) error
		want    string
	}{
		"spec.json":      {`{"nodes":`, func(d Dir) error { _, err := d.ReadSpec(); return err }, "parse spec.json: "},
		"ports.json":     {`[]`, func(d Dir) error { _, err := d.ReadPorts(); return err }, "parse ports.json: "},
		"processes.json": {`{}`, func(d Dir) error { _, err := d.ReadProcesses(); return err }, "parse processes.json: "},
	}
	for file, tc := range tests {
		t.Run(file, func(t *testing.T) {
			dir := create(t, t.TempDir(), "demo")
			if err := os.WriteFile(filepath.Join(dir.Path(), file), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tc.read(dir); !says(err, tc.want) {
				t.Errorf("reading it = %v; want %q", err, tc.want)
			}
		})
	}
}

func TestProcessesAreForgotten(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	if got, err := dir.ReadProcesses(); err != nil || got != nil {
		t.Fatalf("ReadProcesses() before the first run = %v, %v; want none", got, err)
	}
	want := []Process{{Component: "etcd", PID: 17, StartTime: 4711}, {Component: "kwok", PID: 18}}
	if err := dir.WriteProcesses(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadProcesses()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadProcesses() (-want +got):\n%s", diff)
	}
	for range 2 { // the second time there is nothing to forget
		if err := dir.ForgetProcesses(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := dir.ReadProcesses(); err != nil || got != nil {
		t.Errorf("ReadProcesses() after ForgetProcesses() = %v, %v; want none", got, err)
	}
}

func create(t *testing.T, home, name string) Dir {
	t.Helper()
	dir := Open(home, name)
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// says reports whether an error holds the text; an empty text stands for no error.
func says(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}
