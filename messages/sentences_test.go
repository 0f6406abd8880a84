package messages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// sentences is a class of texts: those that some calls and fields in some folders are given.
type sentences struct {
	folders []string
	// calls are the functions and methods whose arguments are texts, and fields those of structs.
	calls, fields []string
	// except are parts of paths whose texts only programs or maintainers read.
	except []string
}

// spoken are the classes of which every sentence has an entry.
var spoken = map[string]sentences{
	"errors and hints of the workbench": {
		folders: []string{"deploy/release", "kubectl-plugin", "sandbox/launch", "sandbox/state", "source", "tui"},
		calls:   []string{"Errorf", "New", "usage", "Wrap"},
		except:  []string{"/livetest/", "/internal/fixture/"},
	},
	"what commands print and ask": {
		folders: []string{"kubectl-plugin"},
		calls:   []string{"Confirm", "report", "say", "Say", "tell"},
		except:  []string{"/kubectl-plugin/check/"},
	},
	"what is wrong with a configuration": {
		folders: []string{"decision/config", "decision/core/configmerge"},
		calls:   []string{"compare", "Errorf", "malformed", "need", "New", "nodeProblem", "report", "rule", "Wrap"},
		fields:  []string{"because", "cause", "fix", "Fix", "message", "Message", "Reason", "Unknown"},
	},
	"what checks find": {
		folders: []string{"kubectl-plugin/check"},
		calls:   []string{"judgedNodes", "pass", "report", "skip", "unknown"},
	},
	"what tutorials tell": {
		folders: []string{"kubectl-plugin/tutorial"},
		calls:   []string{"Await", "AwaitOffer", "MeasureBeside", "Tell"},
	},
	"reasons of decisions": {
		folders: []string{"agent", "controllers", "decision", "descheduler", "scheduler"},
		fields:  []string{"Because", "Message", "Note", "reason", "Reason", "Summary"},
		except:  []string{"/descheduling/evacuation/", "/noderesource/amplification/trace.go"}, // answers to the API server, and a formula
	},
	"findings and notes of answers": {
		folders: []string{"kubectl-plugin", "source", "tui"},
		fields:  []string{"Message", "Reason", "Stop"},
		except:  []string{"/livetest/", "/internal/fixture/"},
	},
	"lines and titles of answers": {
		folders: []string{"kubectl-plugin/printer"},
		calls:   []string{"painted", "title"},
	},
	"texts of screens": {
		folders: []string{"tui"},
		calls:   []string{"drawEmpty", "Render", "say", "Say", "sentence"},
		except:  []string{"/internal/"},
	},
	"steps of the sandbox": {
		folders: []string{"sandbox"},
		calls:   []string{"detail", "step"},
	},
	"what an answer lacks": {
		folders: []string{"source"},
		calls:   []string{"note", "lacks", "missing", "undecided", "unsure"},
	},
}

// TestEverySentenceOfAClassIsTranslated, with something put into each verb.
func TestEverySentenceOfAClassIsTranslated(t *testing.T) {
	for name, class := range spoken {
		t.Run(name, func(t *testing.T) {
			found := map[string]bool{}
			for _, folder := range class.folders {
				class.check(t, folder, found)
			}
			for _, name := range slices.Concat(class.calls, class.fields) {
				if !found[name] {
					t.Errorf("%s is given no sentence: is it called otherwise?", name)
				}
			}
		})
	}
}

// check reports the sentences of a folder that have no entry, and notes which calls and fields have any.
func (c sentences) check(t *testing.T, folder string, found map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || c.leavesOut(path) {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			name, texts := c.in(n)
			for _, english := range texts {
				found[name] = true
				if !translatedWhole(filled(english)) {
					t.Errorf("%s: %q has no Chinese", set.Position(n.Pos()), english)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c sentences) leavesOut(path string) bool {
	for _, part := range c.except {
		if strings.Contains(filepath.ToSlash(path), part) {
			return true
		}
	}
	return false
}

// in returns the texts that a call or a field of the class is given, and its name; not those that are made elsewhere, and no commands to copy.
func (c sentences) in(n ast.Node) (name string, texts []string) {
	name, given := c.given(n)
	for _, text := range given {
		english := strings.TrimSpace(strings.TrimPrefix(joined(formatOf(text)), "; ")) // a clause may be added to others
		if says(english) && (!command.MatchString(english) || about.MatchString(english)) {
			texts = append(texts, english)
		}
	}
	return name, texts
}

// given is what a call or a field of the class is given, and its name.
func (c sentences) given(n ast.Node) (name string, given []ast.Expr) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if name = called(n); slices.Contains(c.calls, name) {
			given = n.Args
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(c.fields, key.Name) {
			name, given = key.Name, []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			field, ok := to.(*ast.SelectorExpr)
			if ok && len(n.Lhs) == len(n.Rhs) && slices.Contains(c.fields, field.Sel.Name) && !partial.MatchString(joined(formatOf(n.Rhs[i]))) {
				name, given = field.Sel.Name, append(given, n.Rhs[i])
			}
		}
	}
	return name, given
}

// partial is a text that needs what is before it, or what is put in behind a word, to be a sentence.
var partial = regexp.MustCompile(`^ ?\(|[a-zA-Z]%[ds]`)

// formatOf is the format of a text that is made, or translated, where it is given.
func formatOf(argument ast.Expr) ast.Expr {
	if call, ok := argument.(*ast.CallExpr); ok && len(call.Args) > 0 && slices.Contains([]string{"Sprintf", "say", "Say"}, called(call)) {
		return formatOf(call.Args[0])
	}
	return argument
}

// command is a hint to be copied: a command, without words about it.
var command = regexp.MustCompile(`^(?:(?:koordctl|kubectl|%[ds]) )(?:[^;]*)$`)

// about are the words after a command that say what it is for.
var about = regexp.MustCompile(` (?:shows?|prints?|lists?|reads?|starts?|allows?|names) `)

// says whether a format has words of its own.
func says(format string) bool {
	return strings.Contains(format, " ") && strings.ContainsFunc(anyVerb.ReplaceAllString(format, ""), unicode.IsLetter)
}

// verbs of fmt, to be filled.
var verbs = regexp.MustCompile(`%(?:\[\d\])?[-+# 0]*[\d.*]*([a-zA-Z])|%%`)

// filled is a text that the format could make.
func filled(format string) string {
	n := 0
	return verbs.ReplaceAllStringFunc(format, func(v string) string {
		n++
		switch v[len(v)-1] {
		case '%':
			return "%"
		case 'd':
			return fmt.Sprint(n + 1)
		case 'q':
			return fmt.Sprintf(`"x%d"`, n)
		default:
			return fmt.Sprintf("x%d", n)
		}
	})
}

// translatedWhole says whether a text is translated, with all of its clauses and not just some.
func translatedWhole(english string) bool {
	translated, known := chinese().translate(english)
	clauses := strings.Split(english, "; ")
	return known && (len(clauses) == 1 || !slices.ContainsFunc(clauses, func(clause string) bool {
		return says(clause) && strings.Contains(translated, clause)
	}))
}
