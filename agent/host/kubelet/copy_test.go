package kubelet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCopiesFollowKubeletsFiles(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	o := CopyOptions{From: from, To: to}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(from, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name    string
		change  func()
		want    map[string]string
		wantErr bool
	}{
		{name: "nothing is there", want: map[string]string{}},
		{
			name:   "two files, and what is none of the agent's business",
			change: func() { write(ConfigurationFile, "a: 1"); write(StateFile, "{}"); write("key.pem", "secret") },
			want:   map[string]string{ConfigurationFile: "a: 1", StateFile: "{}"},
		},
		{name: "a change", change: func() { write(StateFile, `{"policyName":"static"}`) }, want: map[string]string{ConfigurationFile: "a: 1", StateFile: `{"policyName":"static"}`}},
		{name: "one that is gone", change: func() { _ = os.Remove(filepath.Join(from, ConfigurationFile)) }, want: map[string]string{StateFile: `{"policyName":"static"}`}},
		{
			name:   "one that is too large stays as it was",
			change: func() { write(StateFile, string(make([]byte, largest+1))) },
			want:   map[string]string{StateFile: `{"policyName":"static"}`}, wantErr: true,
		},
	}
	for _, step := range steps {
		if step.change != nil {
			step.change()
		}
		if err := o.once(); (err != nil) != step.wantErr {
			t.Errorf("%s: %v, want an error: %t", step.name, err, step.wantErr)
		}
		got := map[string]string{}
		entries, err := os.ReadDir(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			content, err := os.ReadFile(filepath.Join(to, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			got[entry.Name()] = string(content)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: copies (-want +got):\n%s", step.name, diff)
		}
	}
}
