package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatIsSavedIsLoaded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		file := File{Path: filepath.Join(t.TempDir(), "checkpoint")}
		want := rapid.MapOf(rapid.String(), rapid.Int64()).Draw(r, "data")
		for range 2 { // the second replaces the first
			if err := file.Save(want); err != nil {
				r.Fatal(err)
			}
		}
		got := map[string]int64{}
		if found, err := file.Load(&got); err != nil || !found {
			r.Fatalf("found %v, %v", found, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("loaded (-want +got):\n%s", diff)
		}
	})
}

func TestDamageIsTold(t *testing.T) {
	file := File{Path: filepath.Join(t.TempDir(), "checkpoint")}
	var got []string
	if found, err := file.Load(&got); found || err != nil {
		t.Errorf("before anything was saved: found %v, %v", found, err)
	}
	if err := file.Save([]string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"cut off": string(whole[:len(whole)/2]), "empty": "", "another value": strings.Replace(string(whole), `"b"`, `"c"`, 1), "of another kind": `{"checksum":0,"data":{}}`,
	} {
		if err := os.WriteFile(file.Path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Load(&got); err == nil {
			t.Errorf("a file that is %s is believed: %v", name, got)
		}
	}
}

func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	directory := t.TempDir()
	file := File{Path: filepath.Join(directory, "checkpoint")}
	if err := file.Save("old"); err != nil {
		t.Fatal(err)
	}
	if err := file.Save(func() {}); err == nil {
		t.Error("a function was saved")
	}
	var got string
	if _, err := file.Load(&got); err != nil || got != "old" {
		t.Errorf("loaded %q, %v", got, err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 1 {
		t.Errorf("%v are left, %v", entries, err)
	}
	if err := (File{Path: filepath.Join(directory, "missing", "checkpoint")}).Save("new"); err == nil {
		t.Error("saved into a directory that does not exist")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"checksum":3964322768,"data":["a","b"]}`))
	f.Add([]byte(`{"checksum":-1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		file := File{Path: filepath.Join(t.TempDir(), "checkpoint")}
		if err := os.WriteFile(file.Path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		_, _ = file.Load(&got) // it must come back
	})
}
