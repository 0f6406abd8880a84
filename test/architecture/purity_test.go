package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pure are the extension points that change nothing but the cycle state. Filter and Score run for many nodes at once, and
// explanations run all of them for pods that are not being scheduled.
var pure = []string{"PreFilter", "Filter", "PreScore", "Score"}

// memos are functions that those methods may call although they write to what the plugin keeps. A memo is allowed when what it
// returns is the same with it and without it: it is found by all that it was made from, and lost without consequence.
var memos = map[string]string{
	"loadaware.(Plugin).observeAt": "the digest of a node, found by the address of the node and the versions of what else it was made from",
	"loadaware.(observations).add": "the place of that digest",
	"nodenumaresource.(view).Node": "what a node offers that an explanation adds, found by the node object",
}

// stateWrites are the methods of the states that plugins share which change them.
var stateWrites = []string{
	"Reserve", "Unreserve", "Assume", "Expect", "Forget", "Evict", "Permit", "Fail", "Unplace", "Release", "Bound",
	"PodChanged", "NodeChanged", "QuotaChanged", "Refresh", "Subscribe", "Configure",
}

// TestPluginsChangeOnlyTheCycleState follows the calls from the pure extension points through each plugin's package.
func TestPluginsChangeOnlyTheCycleState(t *testing.T) {
	folders, err := filepath.Glob("../../scheduler/plugins/*")
	if err != nil {
		t.Fatal(err)
	}
	points, used := 0, map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		p := newPlugin(filepath.Base(folder))
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				p.parse(t, name, nil)
			}
		}
		points += len(p.points())
		for _, wrong := range p.impure(used) {
			t.Error(wrong)
		}
	}
	if points < 20 {
		t.Errorf("found %d extension points; the plugins have moved", points)
	}
	if unused := len(memos) - len(used); unused > 0 {
		t.Errorf("%d memos are not reached any more: of %v only %v are", unused, slices.Sorted(maps.Keys(memos)), slices.Sorted(maps.Keys(used)))
	}
}

func TestImpurePluginsAreFound(t *testing.T) {
	const head = "package sample\ntype Plugin struct { last *Pod; count int; seen *seen; hits atomic.Uint64; state State }\ntype seen struct { mutex sync.Mutex; nodes map[string]int }\n"
	for name, test := range map[string]struct {
		source string
		want   []string
	}{
		"what is written to the cycle state": {source: "func (p *Plugin) PreFilter() { n := 0; n++; state.Write(key, n) }"},
		"a field that is set":                {source: "func (p *Plugin) PreFilter() { p.last = nil }", want: []string{"sample.(Plugin).PreFilter sets p.last"}},
		"a field that is counted up":         {source: "func (p *Plugin) Filter() { p.count++ }", want: []string{"sample.(Plugin).Filter sets p.count"}},
		"a field set by a helper":            {source: "func (p *Plugin) Score() { p.help() }\nfunc (p *Plugin) help() { p.last = nil }", want: []string{"sample.(Plugin).help sets p.last"}},
		"what a field keeps":                 {source: "func (p *Plugin) Score() { p.seen.note() }\nfunc (s *seen) note() { s.nodes[\"n\"] = 1 }", want: []string{"sample.(seen).note sets s.nodes"}},
		"what a field forgets":               {source: "func (p *Plugin) Score() { p.seen.note() }\nfunc (s *seen) note() { delete(s.nodes, \"n\") }", want: []string{"sample.(seen).note sets s.nodes"}},
		"an atomic":                          {source: "func (p *Plugin) Filter() { p.hits.Add(1) }", want: []string{"sample.(Plugin).Filter calls Add"}},
		"what a lock is for":                 {source: "func (p *Plugin) Filter() { p.seen.mutex.Lock() }", want: []string{"sample.(Plugin).Filter calls Lock"}},
		"the state that profiles share":      {source: "func (p *Plugin) PreScore() { p.state.Reserve() }", want: []string{"sample.(Plugin).PreScore calls p.state.Reserve"}},
		"what is in the cycle state":         {source: "type cycle struct { hints sync.Map }\nfunc (c *cycle) Clone() any { return c }\nfunc (p *Plugin) Filter() { c := cycleOf(state); c.hints.Store(1, 2) }"},
		"what other extension points do":     {source: "func (p *Plugin) Reserve() { p.last = nil; p.state.Reserve() }"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugin("sample")
			p.parse(t, "sample.go", head+test.source)
			if diff := cmp.Diff(test.want, p.impure(map[string]bool{})); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// plugin is the package of one plugin.
type plugin struct {
	name      string
	functions map[string]*ast.FuncDecl
	// methods by name and type, structs by name, and the names of fields of the types of sync/atomic and sync.
	methods map[string]map[string]*ast.FuncDecl
	structs map[string]*ast.StructType
	atomics map[string]bool
}

func newPlugin(name string) *plugin {
	return &plugin{name: name, functions: map[string]*ast.FuncDecl{}, methods: map[string]map[string]*ast.FuncDecl{}, structs: map[string]*ast.StructType{}, atomics: map[string]bool{}}
}

func (p *plugin) parse(t *testing.T, name string, source any) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch declared := n.(type) {
		case *ast.FuncDecl:
			p.addFunction(declared)
		case *ast.TypeSpec:
			if body, ok := declared.Type.(*ast.StructType); ok {
				p.addStruct(declared.Name.Name, body)
			}
		}
		return true
	})
}

func (p *plugin) addFunction(declared *ast.FuncDecl) {
	name := declared.Name.Name
	if declared.Recv == nil {
		p.functions[name] = declared
		return
	}
	if p.methods[name] == nil {
		p.methods[name] = map[string]*ast.FuncDecl{}
	}
	p.methods[name][typeName(declared.Recv.List[0].Type)] = declared
}

func (p *plugin) addStruct(name string, body *ast.StructType) {
	p.structs[name] = body
	for _, field := range body.Fields.List {
		if of := typeName(field.Type); strings.HasPrefix(of, "atomic.") || strings.HasPrefix(of, "sync.") {
			for _, named := range field.Names {
				p.atomics[named.Name] = true
			}
		}
	}
}

// typeName is the name of a type without pointers and type arguments, empty for a type without a name.
func typeName(of ast.Expr) string {
	switch typed := of.(type) {
	case *ast.Ident:
		return typed.Name
	case *ast.StarExpr:
		return typeName(typed.X)
	case *ast.IndexExpr:
		return typeName(typed.X)
	case *ast.SelectorExpr:
		return typeName(typed.X) + "." + typed.Sel.Name
	}
	return ""
}

// kept are the types of what a Plugin holds, but for what is in the cycle state.
func (p *plugin) kept() map[string]bool {
	kept, open := map[string]bool{}, []string{"Plugin"}
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		if kept[name] || p.structs[name] == nil || p.methods["Clone"][name] != nil {
			continue
		}
		kept[name] = true
		ast.Inspect(p.structs[name], func(n ast.Node) bool {
			if named, ok := n.(*ast.Ident); ok {
				open = append(open, named.Name)
			}
			return true
		})
	}
	return kept
}

func (p *plugin) points() []*ast.FuncDecl {
	var points []*ast.FuncDecl
	for _, name := range pure {
		if method := p.methods[name]["Plugin"]; method != nil {
			points = append(points, method)
		}
	}
	return points
}

// impure lists what the pure extension points change, and notes the memos that they use.
func (p *plugin) impure(used map[string]bool) []string {
	var wrong []string
	kept, seen, open := p.kept(), map[*ast.FuncDecl]bool{}, p.points()
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		if name := p.title(next); memos[name] != "" {
			used[name] = true
			continue
		}
		wrong = append(wrong, p.changes(next, kept)...)
		open = append(open, p.calls(next)...)
	}
	return wrong
}

func (p *plugin) title(of *ast.FuncDecl) string {
	if of.Recv == nil {
		return p.name + "." + of.Name.Name
	}
	return p.name + ".(" + typeName(of.Recv.List[0].Type) + ")." + of.Name.Name
}

// changes lists what a function writes to that outlives a cycle.
func (p *plugin) changes(of *ast.FuncDecl, kept map[string]bool) []string {
	var found []string
	written := func(target ast.Expr) {
		if path := pathOf(target); len(path) > 1 && path[0] == receiverOf(of) && kept[typeName(of.Recv.List[0].Type)] {
			found = append(found, p.title(of)+" sets "+strings.Join(path[:2], "."))
		}
	}
	ast.Inspect(of.Body, func(n ast.Node) bool {
		switch statement := n.(type) {
		case *ast.AssignStmt:
			for _, target := range statement.Lhs {
				written(target)
			}
		case *ast.IncDecStmt:
			written(statement.X)
		case *ast.CallExpr:
			if called, ok := statement.Fun.(*ast.Ident); ok && (called.Name == "delete" || called.Name == "clear") {
				written(statement.Args[0])
			}
			if call := p.writes(statement, of); call != "" {
				found = append(found, p.title(of)+" calls "+call)
			}
		}
		return true
	})
	return found
}

// writes names the method that a call writes with; empty for any other.
func (p *plugin) writes(call *ast.CallExpr, in *ast.FuncDecl) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name, path := method.Sel.Name, pathOf(method.X)
	if p.inCycle(path) {
		return ""
	}
	switch {
	case slices.Contains([]string{"Lock", "Store", "Swap", "CompareAndSwap", "LoadOrStore", "LoadAndDelete"}, name):
		return name
	case len(path) > 0 && p.atomics[path[len(path)-1]] && slices.Contains([]string{"Add", "Delete", "And", "Or"}, name):
		return name
	case len(path) == 2 && path[0] == receiverOf(in) && path[1] == "state" && slices.Contains(stateWrites, name):
		return strings.Join(path, ".") + "." + name
	}
	return ""
}

// inCycle is true for a field of what a plugin keeps in the cycle state, which has Clone.
func (p *plugin) inCycle(path []string) bool {
	for of := range p.methods["Clone"] {
		if len(path) == 2 && p.fieldType(of, path[1]) != "" {
			return true
		}
	}
	return false
}

// pathOf is the names of a variable and the fields that an expression selects, empty for what is not found that way.
func pathOf(of ast.Expr) []string {
	switch typed := of.(type) {
	case *ast.Ident:
		return []string{typed.Name}
	case *ast.IndexExpr:
		return pathOf(typed.X)
	case *ast.StarExpr:
		return pathOf(typed.X)
	case *ast.ParenExpr:
		return pathOf(typed.X)
	case *ast.SelectorExpr:
		if path := pathOf(typed.X); len(path) > 0 {
			return append(path, typed.Sel.Name)
		}
	}
	return nil
}

func receiverOf(of *ast.FuncDecl) string {
	if of.Recv == nil || len(of.Recv.List[0].Names) == 0 {
		return ""
	}
	return of.Recv.List[0].Names[0].Name
}

// calls are the functions of the package that a function may call.
func (p *plugin) calls(of *ast.FuncDecl) []*ast.FuncDecl {
	var called []*ast.FuncDecl
	ast.Inspect(of.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch function := call.Fun.(type) {
		case *ast.Ident:
			if declared := p.functions[function.Name]; declared != nil {
				called = append(called, declared)
			}
		case *ast.SelectorExpr:
			called = append(called, p.methodsOf(of, function)...)
		}
		return true
	})
	return called
}

// methodsOf are the methods that a selector may mean: those of the receiver or of the type of its field, and else all of the name
// but the plugin's own.
func (p *plugin) methodsOf(in *ast.FuncDecl, selector *ast.SelectorExpr) []*ast.FuncDecl {
	candidates, path := p.methods[selector.Sel.Name], pathOf(selector.X)
	if len(path) > 0 && len(path) <= 2 && path[0] == receiverOf(in) {
		of := typeName(in.Recv.List[0].Type)
		if len(path) == 2 {
			of = p.fieldType(of, path[1])
		}
		if method := candidates[of]; method != nil {
			return []*ast.FuncDecl{method}
		}
		return nil
	}
	var all []*ast.FuncDecl
	for of, method := range candidates {
		if of != "Plugin" {
			all = append(all, method)
		}
	}
	return all
}

func (p *plugin) fieldType(of, name string) string {
	if body := p.structs[of]; body != nil {
		for _, field := range body.Fields.List {
			for _, named := range field.Names {
				if named.Name == name {
					return typeName(field.Type)
				}
			}
		}
	}
	return ""
}
