package live

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// droppedKeys names the members of a JSON object that are not decoded: a leaf is left out, an inner object is filtered in
// turn. Members it does not name are kept.
type droppedKeys map[string]droppedKeys

func keys(drop ...string) droppedKeys {
	d := droppedKeys{}
	for _, key := range drop {
		d[key] = nil
	}
	return d
}

var (
	// managedFieldsDrop is an object without managedFields.
	managedFieldsDrop = droppedKeys{"metadata": keys("managedFields")}
	// metricDrop is a NodeMetric without managedFields and the percentiles of the system's usage, which nothing reads.
	metricDrop = droppedKeys{
		"metadata": keys("managedFields"),
		"status":   {"nodeMetric": keys("aggregatedSystemUsages")},
	}
	// metricBriefDrop is a NodeMetric without any percentiles, which are the larger half of it.
	metricBriefDrop = droppedKeys{
		"metadata": keys("managedFields"),
		"status":   {"nodeMetric": keys("aggregatedSystemUsages", "aggregatedNodeUsages")},
	}
)

// metricDropFor keeps percentiles only where load-aware scheduling compares them on one of the nodes.
func metricDropFor(args *loadaware.Args, nodes []corev1.Node) droppedKeys {
	policy := loadaware.NewPolicy(args)
	for i := range nodes {
		if policy.ComparesPercentiles(&nodes[i]) {
			return metricDrop
		}
	}
	return metricBriefDrop
}

// always is for those who know beforehand what they need.
func always(drop droppedKeys) func() droppedKeys { return func() droppedKeys { return drop } }

var errNotJSON = errors.New("not an object in JSON")

// stripJSON appends an object to into, without the dropped members. It finds members by brackets and quotes alone; what it
// cannot make out is errNotJSON.
func stripJSON(into, object []byte, drop droppedKeys) ([]byte, error) {
	rest := trim(object)
	if len(rest) == 0 || rest[0] != '{' {
		return append(into, object...), nil
	}
	into, rest = append(into, '{'), trim(rest[1:])
	for opened := len(into); len(rest) > 0; rest = trim(rest) {
		switch rest[0] {
		case '}':
			return append(into, '}'), nil
		case ',':
			rest = rest[1:]
			continue
		}
		key, value, after, err := member(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		inner, named := drop[string(key[1:len(key)-1])]
		if named && len(inner) == 0 {
			continue
		}
		if len(into) > opened {
			into = append(into, ',')
		}
		into = append(append(into, key...), ':')
		if !named {
			into = append(into, value...)
			continue
		}
		if into, err = stripJSON(into, value, inner); err != nil {
			return nil, err
		}
	}
	return nil, errNotJSON
}

// member splits off the first member of what stands inside an object.
func member(text []byte) (key, value, rest []byte, err error) {
	key, rest, err = cutValue(text)
	if err != nil || len(key) < 2 || key[0] != '"' {
		return nil, nil, nil, errNotJSON
	}
	if rest = trim(rest); len(rest) == 0 || rest[0] != ':' {
		return nil, nil, nil, errNotJSON
	}
	value, rest, err = cutValue(trim(rest[1:]))
	return key, value, rest, err
}

func cutValue(text []byte) (value, rest []byte, err error) {
	var s scanner
	used, done := s.scan(text)
	if !done || used == 0 {
		return nil, nil, errNotJSON
	}
	return text[:used], text[used:], nil
}

func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}
