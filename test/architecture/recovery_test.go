package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// extensionPoints are the methods of plugins that kube-scheduler, or the framework around it, calls with a pod.
var extensionPoints = []string{
	"PreEnqueue", "Less", "SignPod", "Propose", "PreFilter", "AddPod", "RemovePod", "Filter", "PostFilter", "PreScore", "Score", "NormalizeScore",
	"Reserve", "Unreserve", "Permit", "PreBindPreFlight", "PreBind", "Bind", "PostBind",
}

// TestPluginsRecoverFromPanics: a panic in an extension point must not end the scheduler, so each begins with a deferred call of
// scheduler/recovery, and the queueing hints go through recovery.Hints. Methods that only return a constant need none.
func TestPluginsRecoverFromPanics(t *testing.T) {
	files, err := filepath.Glob("../../scheduler/plugins/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			method, ok := declared.(*ast.FuncDecl)
			if !ok || method.Recv == nil {
				continue
			}
			point := method.Name.Name
			switch {
			case point == "EventsToRegister":
				if !callsRecovery(method.Body, "Hints") {
					t.Errorf("%s: EventsToRegister must return recovery.Hints(...)", set.Position(method.Pos()))
				}
			case slices.Contains(extensionPoints, point) && !returnsConstant(method.Body):
				seen[point]++
				if first, ok := method.Body.List[0].(*ast.DeferStmt); !ok || !callsRecovery(first, "Status", "Ignore") {
					t.Errorf("%s: %s must begin with a deferred recovery.Status or recovery.Ignore", set.Position(method.Pos()), point)
				}
			}
		}
	}
	if seen["Filter"] == 0 || seen["Score"] == 0 {
		t.Errorf("found %v; the plugins have moved", seen)
	}
}

// returnsConstant is true for methods that are one return of values without a call, other than of fwk.NewStatus.
func returnsConstant(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return true
	}
	returned, ok := body.List[0].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	constant := true
	ast.Inspect(returned, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			selector, ok := call.Fun.(*ast.SelectorExpr)
			constant = constant && ok && selector.Sel.Name == "NewStatus"
		}
		return true
	})
	return constant
}

func callsRecovery(in ast.Node, functions ...string) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == "recovery" && slices.Contains(functions, selector.Sel.Name) {
				found = true
			}
		}
		return true
	})
	return found
}
