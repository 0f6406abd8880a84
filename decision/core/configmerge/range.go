package configmerge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// checkBounds reports every value of a strategy that is outside of its range. Values of the wrong type are left to
// checkType. The path is where the strategy stands in its document.
func checkBounds(value any, bounds []bound, path string, report func(code finding.Code, path, message string)) {
	walk(value, path, nil, func(at string, segments []string, value any) {
		for _, bound := range bounds {
			if !bound.matches(segments) {
				continue
			}
			if message := bound.check(value); message != "" {
				report(bound.codeOf(value), at, message)
			}
		}
	})
}

// walk visits every scalar with its path and the path's segments.
func walk(value any, path string, segments []string, visit func(path string, segments []string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			walk(item, joinPath(path, key), append(segments[:len(segments):len(segments)], key), visit)
		}
	case []any:
		for i, item := range value {
			walk(item, indexPath(path, i), append(segments[:len(segments):len(segments)], strconv.Itoa(i)), visit)
		}
	case nil:
	default:
		visit(path, segments, value)
	}
}

// checkOrders reports pairs of merged values that stand in the wrong order, at the value that the layer set.
func checkOrders(merged overlay, layer map[string]any, orders []order, path string, report reporter) {
	for _, pair := range orders {
		lower, hasLower := numberAt(merged.values, pair.lower)
		upper, hasUpper := numberAt(merged.values, pair.upper)
		if !hasLower || !hasUpper || lower < upper {
			continue
		}
		for _, set := range []string{pair.upper, pair.lower} {
			if _, ok := numberAt(layer, set); !ok {
				continue
			}
			report(below(path, set), fmt.Sprintf("%s (%v) must be less than %s (%v)", pair.lower, lower, pair.upper, upper))
			break
		}
	}
}

// below appends a path of plain keys to a path.
func below(path, keys string) string {
	for key := range strings.SplitSeq(keys, ".") {
		path = joinPath(path, key)
	}
	return path
}

// numberAt reads a number at a path of plain keys.
func numberAt(values map[string]any, path string) (float64, bool) {
	var current any = values
	for key := range strings.SplitSeq(path, ".") {
		object, ok := current.(map[string]any)
		if !ok {
			return 0, false
		}
		current = object[key]
	}
	number, ok := current.(json.Number)
	if !ok {
		return 0, false
	}
	value, err := number.Float64()
	return value, err == nil
}
