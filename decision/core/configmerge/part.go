package configmerge

import (
	"reflect"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// part is what one section means for a node: the typed strategy and where each value came from. Both are shared between
// nodes and must not be modified.
type part struct {
	strategy any
	settings []diagnosticsv1alpha1.Setting
}

// render computes what a section means for every node strategy and for nodes that match none, once for all nodes.
func render(s section, l *layered) *layered {
	l.rendered = make([]part, 0, len(l.entries)+1)
	for index := range len(l.entries) + 1 {
		l.rendered = append(l.rendered, renderOne(s, l.overlayAt(index)))
	}
	return l
}

func renderOne(s section, merged overlay) part {
	strategy := reflect.New(s.strategy).Interface()
	// Every layer was checked against the type before it was merged, so this cannot fail; if it did, the strategy would be
	// empty, which disables the feature.
	if err := merged.decode(strategy); err != nil {
		strategy = reflect.New(s.strategy).Interface()
	}
	return part{strategy: strategy, settings: merged.settings()}
}
