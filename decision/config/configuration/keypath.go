package configuration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
)

// KeyPath names a value of the configuration: colocation-config.cpuReclaimThresholdPercent. What stands at neither a
// cluster strategy nor a node strategy is the cluster's: resource-threshold-config.enable means
// resource-threshold-config.clusterStrategy.enable.
type KeyPath struct {
	// Key of the ConfigMap.
	Key string
	// segments of the path inside the key's JSON; none for the whole document.
	segments []segment
	// strategy is how many of the segments lead to the strategy.
	strategy int
}

// segment is a field, or an item of an array by its place or by its name.
type segment struct {
	text string
	item bool
}

// ParseKeyPath reads KEY or KEY.PATH. Items of arrays are written [0], or [NAME] for the node strategy of that name; keys
// with dots are written ["a.b"].
func ParseKeyPath(text string) (KeyPath, error) {
	if !utf8.ValidString(text) {
		return KeyPath{}, fmt.Errorf("key path %q: is not UTF-8", text)
	}
	key, rest, _ := strings.Cut(text, ".")
	if at := strings.IndexByte(key, '['); at >= 0 {
		key, rest = text[:at], text[at:]
	}
	layout, ok := configmerge.LayoutOf(key)
	if !ok {
		return KeyPath{}, fmt.Errorf("key path %q: unknown key %q%s; known are %s", text, key, nearest(key, configuration.Keys()),
			strings.Join(configuration.Keys(), ", "))
	}
	segments, err := parseSegments(rest)
	if err != nil {
		return KeyPath{}, fmt.Errorf("key path %q: %w", text, err)
	}
	path := KeyPath{Key: key, segments: segments}
	switch {
	case len(segments) == 0:
	case segments[0].text == layout.NodesField && !segments[0].item:
		path.strategy = min(2, len(segments))
	case layout.ClusterField == "":
	case segments[0].text == layout.ClusterField:
		path.strategy = 1
	default:
		path.segments = append([]segment{{text: layout.ClusterField}}, segments...)
		path.strategy = 1
	}
	return path, nil
}

func parseSegments(text string) ([]segment, error) {
	var out []segment
	for text != "" {
		if text[0] != '[' {
			end := strings.IndexAny(text, ".[")
			if end < 0 {
				end = len(text)
			}
			if end == 0 {
				return nil, fmt.Errorf("empty field name")
			}
			out = append(out, segment{text: text[:end]})
			text = text[end:]
		} else {
			s, rest, err := parseItem(text)
			if err != nil {
				return nil, err
			}
			out, text = append(out, s), rest
		}
		if strings.HasPrefix(text, ".") {
			if text = text[1:]; text == "" {
				return nil, fmt.Errorf("trailing dot")
			}
		}
	}
	return out, nil
}

// parseItem reads [0], [NAME] or ["key"].
func parseItem(text string) (segment, string, error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return segment{}, "", fmt.Errorf("%s: must be [\"KEY\"]", text)
		}
		name, err := strconv.Unquote(quoted)
		return segment{text: name}, text[2+len(quoted):], err
	}
	end := strings.IndexByte(text, ']')
	if end < 2 {
		return segment{}, "", fmt.Errorf("%s: must be [NUMBER] or [NAME]", text)
	}
	return segment{text: text[1:end], item: true}, text[end+1:], nil
}

// String is the path as it is written.
func (p KeyPath) String() string { return JoinKey(p.Key, p.inDocument(len(p.segments))) }

// JoinKey puts the key before a path inside its JSON.
func JoinKey(key, path string) string {
	if path == "" || path[0] == '[' {
		return key + path
	}
	return key + "." + path
}

// Field is the path inside a strategy, with [] for the items of arrays, as Fields spells it.
func (p KeyPath) Field() string {
	out := ""
	for _, s := range p.segments[p.strategy:] {
		if s.item {
			out += "[]"
			continue
		}
		out = configmerge.JoinPath(out, s.text)
	}
	return out
}

// Strategy is the path of the strategy inside the key's JSON; empty where it is the whole document.
func (p KeyPath) Strategy() string { return p.inDocument(p.strategy) }

// InStrategy is the path below the strategy, as settings spell it.
func (p KeyPath) InStrategy() string { return render(p.segments[p.strategy:]) }

func (p KeyPath) inDocument(segments int) string { return render(p.segments[:segments]) }

func render(segments []segment) string {
	out := ""
	for _, s := range segments {
		switch {
		case s.item:
			out += "[" + s.text + "]"
		case strings.ContainsAny(s.text, ".[]\" \t\n") || s.text == "":
			out += "[" + strconv.Quote(s.text) + "]"
		default:
			out = configmerge.JoinPath(out, s.text)
		}
	}
	return out
}

// FieldOf finds what is known about a path; false where the path is a whole strategy, an object, or unknown.
func FieldOf(p KeyPath) (configmerge.Field, bool) {
	want := p.Field()
	fields := configmerge.Fields(p.Key)
	index := slices.IndexFunc(fields, func(f configmerge.Field) bool { return sameField(f.Path, want) })
	if index < 0 {
		return configmerge.Field{}, false
	}
	return fields[index], true
}

// sameField compares the path of a field with a path that names keys of maps.
func sameField(field, path string) bool {
	known, given := strings.Split(field, "."), strings.Split(path, ".")
	if len(known) != len(given) {
		return false
	}
	for i := range known {
		if known[i] != "*" && !strings.EqualFold(known[i], given[i]) && strings.TrimSuffix(known[i], "[]") != given[i] {
			return false
		}
	}
	return true
}
