package java

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyJarsWithTheirChecksumsAreUsed: what was downloaded is what was pinned, or nothing.
func TestOnlyJarsWithTheirChecksumsAreUsed(t *testing.T) {
	sum := sha256.Sum256([]byte("classes"))
	project := Project{Name: "engine", Checksums: []byte(hex.EncodeToString(sum[:]) + "  engine.jar\n")}
	tests := map[string]struct {
		jars map[string]string
		want string
	}{
		"all as pinned":         {map[string]string{"engine.jar": "classes", ownJar: ""}, ""},
		"another content":       {map[string]string{"engine.jar": "others", ownJar: ""}, "engine.jar has checksum "},
		"one is missing":        {map[string]string{ownJar: ""}, "no such file"},
		"one that is no pinned": {map[string]string{"engine.jar": "classes", "more.jar": "", ownJar: ""}, "more.jar has no checksum"},
		"without own classes":   {map[string]string{"engine.jar": "classes"}, "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			for jar, content := range tc.jars {
				if err := os.WriteFile(filepath.Join(directory, jar), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := project.verify(directory)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("verify = %v; want %q", err, tc.want)
			}
		})
	}
}

func TestWhatDecidesTheJarsDecidesWhereTheyAre(t *testing.T) {
	base := Project{Name: "engine", POM: []byte("a"), Checksums: []byte("b"), Sources: map[string][]byte{"C.java": []byte("c")}}
	seen := map[string]string{base.sum(): "the first"}
	for name, change := range map[string]func(*Project){
		"another POM":    func(p *Project) { p.POM = []byte("x") },
		"other sums":     func(p *Project) { p.Checksums = []byte("x") },
		"another source": func(p *Project) { p.Sources = map[string][]byte{"C.java": []byte("x")} },
	} {
		other := base
		change(&other)
		if of, found := seen[other.sum()]; found {
			t.Errorf("%s has the directory of %s", name, of)
		}
		seen[other.sum()] = name
	}
}
