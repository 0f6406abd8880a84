package schedulinghint

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"koordinator.sh/koord/api/extension"
)

// Hint of one pod. The zero value proposes nothing.
type Hint struct {
	// Only are the nodes that the pod is restricted to; nil for all.
	Only sets.Set[string]
	// Preferred are the nodes to prefer, best first, mapped to their place from 0.
	Preferred map[string]int
	// Written is when koord-manager wrote the hint; zero for a hint of anybody else.
	Written time.Time
}

// Lasting is how long nodes are preferred by what koord-manager knew of them when it wrote a hint.
const Lasting = 15 * time.Minute

// Expired is true for a hint of koord-manager that is too old to go by.
func Expired(written, now time.Time) bool { return !written.IsZero() && now.Sub(written) > Lasting }

// At is what of a hint counts at a time: one that has expired prefers nothing.
func (h Hint) At(now time.Time) Hint {
	if Expired(h.Written, now) {
		h.Preferred = nil
	}
	return h
}

// Parse reads the hint of a pod from its annotations. A hint that cannot be read, or names more than limit nodes in one
// list, is an error.
func Parse(annotations map[string]string, limit int64) (Hint, error) {
	given, err := extension.GetSchedulingHint(annotations)
	if err != nil || given == nil {
		return Hint{}, err
	}
	if int64(len(given.NodeNames)) > limit {
		return Hint{}, fmt.Errorf(tooLong+"names %d nodes, more than maxHintNodes %d", len(given.NodeNames), limit)
	}
	if int64(len(given.PreferredNodeNames)) > limit {
		return Hint{}, fmt.Errorf(tooLong+"prefers %d nodes, more than maxHintNodes %d", len(given.PreferredNodeNames), limit)
	}
	hint := Hint{}
	if query, err := extension.GetQueryHint(given); err == nil && query != nil && query.Writer == extension.QueryHintWriter {
		hint.Written = query.Time.Time
	}
	if len(given.NodeNames) > 0 {
		hint.Only = sets.New(given.NodeNames...)
	}
	for _, name := range given.PreferredNodeNames {
		if _, known := hint.Preferred[name]; !known && (hint.Only == nil || hint.Only.Has(name)) {
			if hint.Preferred == nil {
				hint.Preferred = map[string]int{}
			}
			hint.Preferred[name] = len(hint.Preferred)
		}
	}
	return hint, nil
}

// tooLong begins the errors of Parse about the number of nodes.
const tooLong = "scheduling hint "

// IsInvalid reports whether a text is that of an error of Parse.
func IsInvalid(text string) bool {
	return strings.HasPrefix(text, tooLong) || extension.NamesAnnotation(text, extension.AnnotationSchedulingHint) ||
		extension.NamesAnnotation(text, extension.DeprecatedAnnotationSchedulingHint)
}

// InOrder lists the preferred nodes, best first.
func (h Hint) InOrder() []string {
	if len(h.Preferred) == 0 {
		return nil
	}
	names := make([]string, len(h.Preferred))
	for name, place := range h.Preferred {
		names[place] = name
	}
	return names
}

// Score of a node among those that the hint prefers: 100 for the first, less for each after it but never 0, and 0 for the
// others.
func (h Hint) Score(node string) int64 {
	place, preferred := h.Preferred[node]
	if !preferred {
		return 0
	}
	return 100 - int64(place)*99/int64(len(h.Preferred))
}
