package configmerge

import "strings"

// wrongPaths are the paths of a document that have a problem.
type wrongPaths map[string]bool

func newWrongPaths(problems []Problem) wrongPaths {
	paths := wrongPaths{}
	for _, problem := range problems {
		paths[problem.Path] = true
	}
	return paths
}

// without is a strategy without the wrong values. An array with a wrong item is left out as a whole, because it is merged as
// a whole.
func (w wrongPaths) without(values map[string]any, path string) map[string]any {
	if len(w) == 0 {
		return values
	}
	out := make(map[string]any, len(values))
	for key, value := range values {
		at := joinPath(path, key)
		if w[at] {
			continue
		}
		switch inner := value.(type) {
		case map[string]any:
			value = w.without(inner, at)
		case []any:
			if w.within(at) {
				continue
			}
		}
		out[key] = value
	}
	return out
}

// within says whether anything below a path is wrong.
func (w wrongPaths) within(path string) bool {
	for at := range w {
		if strings.HasPrefix(at, path+"[") || strings.HasPrefix(at, path+".") {
			return true
		}
	}
	return false
}

// forget removes the merged values at the wrong paths below a strategy, so that nothing is compared with the value of a
// lower layer in their place.
func (w wrongPaths) forget(values map[string]any, path string) {
	if len(w) == 0 {
		return
	}
	for key, value := range values {
		at := joinPath(path, key)
		if w[at] {
			delete(values, key)
		} else if inner, ok := value.(map[string]any); ok {
			w.forget(inner, at)
		}
	}
}
