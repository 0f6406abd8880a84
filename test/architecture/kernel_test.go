package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ownFiles are the files of the agent outside of agent/host that may touch the file system, and what for: none of it is the kernel's.
var ownFiles = map[string]string{
	"agent/checkpoint/file.go":         "what must outlive the agent",
	"agent/hooks/server/server.go":     "the socket that container runtimes call, and where they look it up",
	"agent/koordlet/statedirectory.go": "the directory of checkpoints",
	"agent/qos/terway/reconciler.go":   "files that a network plugin reads",
	"agent/serving/certificate.go":     "the certificate of the secured port",
	"agent/yarnagent/socket.go":        "the socket that koordlet calls",
}

// touching are the functions that reach the file system, by import; of os all but those of the process.
var (
	ofTheProcess = []string{"Args", "Environ", "ErrDeadlineExceeded", "ErrExist", "ErrNotExist", "ErrPermission", "Executable", "Exit", "Getenv", "Getpid", "Hostname",
		"Interrupt", "IsExist", "IsNotExist", "LookupEnv", "Stderr", "Stdin", "Stdout"}
	touching = map[string][]string{
		"path/filepath":         {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
		"syscall":               {"Creat", "Open", "Openat"},
		"golang.org/x/sys/unix": {"Creat", "Open", "Openat", "Openat2"},
	}
)

// TestOnlyTheHostTouchesTheKernel: what the agent reads and writes of the kernel goes through agent/host, where it is bounded, imitated
// in tests, and fuzzed. Everything else reaches no file but its own.
func TestOnlyTheHostTouchesTheKernel(t *testing.T) {
	visited := map[string]bool{}
	err := filepath.WalkDir("../../agent", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, _ := filepath.Rel("../..", name) // both are relative
		if file = filepath.ToSlash(file); file == "agent/host" {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		_, own := ownFiles[file]
		visited[file] = true
		for position, what := range reached(parsed, own) {
			t.Errorf("%s:%d: %s: the kernel is reached by agent/host alone", file, set.Position(position).Line, what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range ownFiles {
		if !visited[file] {
			t.Errorf("%s is not there any more", file)
		}
	}
}

// reached is where a file reaches the file system, and by what. In one that may, it is where it names a tree of the kernel.
func reached(file *ast.File, own bool) map[token.Pos]string {
	out, packages := map[token.Pos]string{}, map[string]string{}
	for _, imported := range file.Imports {
		path, _ := strconv.Unquote(imported.Path.Value) // it was parsed
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imported.Name != nil {
			name = imported.Name.Name
		}
		packages[name] = path
		if name == "." || path == "io/ioutil" {
			out[imported.Pos()] = "import of " + path
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if own && n.Kind == token.STRING && err == nil && slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(tree string) bool { return within(text, tree) }) {
				out[n.Pos()] = text
			}
		case *ast.SelectorExpr:
			of, isName := n.X.(*ast.Ident)
			if !isName || own {
				return true
			}
			path := packages[of.Name]
			if path == "os" && !slices.Contains(ofTheProcess, n.Sel.Name) || slices.Contains(touching[path], n.Sel.Name) {
				out[n.Pos()] = of.Name + "." + n.Sel.Name
			}
		}
		return true
	})
	return out
}
