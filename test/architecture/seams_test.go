package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// replaceable are the fields of kube-scheduler's Scheduler and of its configuration that stand for a part of it.
var replaceable = []string{"FailureHandler", "SchedulingQueue", "NextPod", "Cache", "Profiles", "DynInformerFactory"}

// TestOnlyOnePackageReplacesPartsOfKubeScheduler: every seam is in scheduler/frameworkext.
func TestOnlyOnePackageReplacesPartsOfKubeScheduler(t *testing.T) {
	inside := 0
	err := filepath.WalkDir("../../scheduler", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			assigned, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, target := range assigned.Lhs {
				path := pathOf(target)
				if len(path) < 2 || !slices.Contains(replaceable, path[len(path)-1]) {
					continue
				}
				if inside++; filepath.Base(filepath.Dir(name)) != "frameworkext" {
					t.Errorf("%s: %s is replaced outside of frameworkext", set.Position(n.Pos()), strings.Join(path, "."))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if inside < len(replaceable) {
		t.Errorf("found %d replacements; the seams have moved", inside)
	}
}

// TestTheSchedulerKnowsNoPluginByName: what a plugin needs of the scheduler, its part declares.
func TestTheSchedulerKnowsNoPluginByName(t *testing.T) {
	for _, p := range list(t, "./scheduler/app", "./scheduler/part", "./scheduler/diagnostics", "./scheduler/frameworkext") {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module+"/scheduler/plugins/") || strings.HasPrefix(imported, module+"/scheduler/state") || within(imported, module+"/scheduler/reservepods") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
