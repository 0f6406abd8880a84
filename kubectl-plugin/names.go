package kubectlplugin

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/source"
)

// objects reads the names of objects of one kind: NAME, TYPE/NAME or, for what lives in namespaces, NAMESPACE/NAME. The namespace is
// the one that the names or the flags say, or that of the context; empty for a kind without.
func (s *session) objects(kind source.Kind, args []string) (namespace string, names []string, err error) {
	named := ""
	for _, arg := range args {
		before, name, prefixed := strings.Cut(arg, "/")
		switch {
		case !prefixed:
			name = arg
		case name == "" || before == "" || strings.Contains(name, "/"):
			return "", nil, usage("%q: must be NAME or %s", arg, forms(kind))
		case isWordFor(kind, before):
		case namesKind(before) || !kind.Namespaced:
			return "", nil, usage("%q: the name of a %s is required: NAME or %s", arg, kind, forms(kind))
		case named != "" && named != before:
			return "", nil, usage("%q: all names must be in the same namespace, which is %q", arg, named)
		default:
			named = before
		}
		names = append(names, name)
	}
	if !kind.Namespaced {
		return "", names, nil
	}
	if chosen := s.flags.Namespace; named != "" && chosen != nil && *chosen != "" && *chosen != named {
		return "", nil, usage("namespace %q of the name and --namespace %q differ", named, *chosen)
	}
	if named != "" {
		return named, names, nil
	}
	namespace, err = s.namespace()
	return namespace, names, err
}

// nodeFlag is the value of a flag that names a node: NAME or TYPE/NAME.
type nodeFlag string

// Set reads the value.
func (n *nodeFlag) Set(text string) error {
	before, name, prefixed := strings.Cut(text, "/")
	switch {
	case !prefixed:
		name = text
	case !isWordFor(source.KindNode, before) || name == "":
		return fmt.Errorf("must be NAME or %s", forms(source.KindNode))
	}
	*n = nodeFlag(name)
	return nil
}

// String is the name.
func (n *nodeFlag) String() string { return string(*n) }

// Type is that of strings.
func (n *nodeFlag) Type() string { return "string" }

// object is objects for one name.
func (s *session) object(kind source.Kind, arg string) (namespace, name string, err error) {
	namespace, names, err := s.objects(kind, []string{arg})
	if err != nil {
		return "", "", err
	}
	return namespace, names[0], nil
}

// forms are the ways to write a name beside the name alone.
func forms(kind source.Kind) string {
	text := kind.Name + "/NAME"
	if kind.Namespaced {
		text += " or NAMESPACE/NAME"
	}
	return text
}
