package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// writers are the folders whose texts people read.
var writers = []string{"agent", "api", "controllers", "decision", "deploy", "descheduler", "kubectl-plugin", "outage", "sandbox", "scheduler", "source", "tui"}

// foreign are the files with texts that are not in this module, or not as such.
var foreign = []string{"zh/libraries.po", "zh/lists.po", "zh/kubernetes.po"}

var (
	anyVerb = regexp.MustCompile(`%(?:\[\d\])?[-+# 0]*[\d.]*[a-zA-Z]|%%|koordctl`)
	holes   = regexp.MustCompile(`%+`)
)

// shape is a text with a % for whatever is put into it, on one line.
func shape(text string) string {
	return holes.ReplaceAllString(anyVerb.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), "%"), "%")
}

// TestEveryEntryIsUsed: what each says between its verbs is in a text of the code. A sentence may be put together from several.
func TestEveryEntryIsUsed(t *testing.T) {
	corpus := texts(t)
	for _, name := range ownFiles(t) {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := parse(string(content))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for literal := range strings.SplitSeq(shape(e.english), "%") {
				if literal = strings.Trim(literal, " ,;:()"); !strings.Contains(corpus, literal) {
					t.Errorf("%s:%d: nothing prints %q of %q", name, e.line, literal, e.english)
				}
			}
		}
	}
}

// TestEveryFormatTranslatesWhatItMakes: a format that another one takes everything from is never used.
func TestEveryFormatTranslatesWhatItMakes(t *testing.T) {
	for _, formats := range chinese().formats {
		for _, f := range formats {
			english := filled(f.english())
			got, _ := chinese().translate(english)
			for _, p := range f.pieces {
				if !strings.Contains(got, strings.TrimSpace(p.text)) {
					t.Errorf("%q makes %q, which is translated as %q", f.english(), english, got)
					break
				}
			}
		}
	}
}

// english is the key of the format.
func (f *format) english() string {
	var b strings.Builder
	for i, literal := range f.literals {
		b.WriteString(strings.ReplaceAll(literal, "%", "%%"))
		if i < len(f.verbs) {
			b.WriteString("%" + string(f.verbs[i]))
		}
	}
	return b.String()
}

// ownFiles are the files whose texts are in this module.
func ownFiles(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(files, "zh/*.po")
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, name := range names {
		if !strings.Contains(strings.Join(foreign, " "), name) {
			own = append(own, name)
		}
	}
	return own
}

// texts are the shapes of all texts in the code, one a line.
func texts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range writers {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			switch filepath.Ext(path) {
			case ".json", ".yaml":
				content, err := os.ReadFile(path)
				all.WriteString(shape(string(content)) + "\n")
				return err
			case ".go":
				return textsOf(path, &all)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func textsOf(path string, all *strings.Builder) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				all.WriteString(shape(joined(n)) + "\n")
			}
		case *ast.BasicLit:
			all.WriteString(shape(joined(n)) + "\n")
		case *ast.CallExpr:
			// The functions phrase.Counted and plural count things.
			if name := called(n); (name == "Counted" || name == "plural") && len(n.Args) == 2 {
				all.WriteString("1 " + shape(joined(n.Args[1])) + "\n% " + shape(joined(n.Args[1])) + "s\n")
			}
		}
		return true
	})
	return nil
}

// joined is a text that is put together, with a % for what is known only when the program runs.
func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if text, err := strconv.Unquote(e.Value); err == nil {
				return text
			}
		}
	case *ast.ParenExpr:
		return joined(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return joined(e.X) + joined(e.Y)
		}
	}
	return "%d"
}
