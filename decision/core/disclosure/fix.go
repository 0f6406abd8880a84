package disclosure

import (
	"cmp"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// addNode is the kind of fix that adds a machine, which no step does.
const addNode = "addNode"

// Missing are the requests of a fix that the caller may not make: its steps, the replacement of a pod, the creation of a
// node, and reading what it names. The namespace is that of the pod that the fix is for.
func Missing(fix *diagnosticsv1alpha1.Fix, namespace string, may Access) []Request {
	var missing []Request
	for _, asked := range requests(fix, namespace) {
		if !slices.Contains(missing, asked) && !may(asked) {
			missing = append(missing, asked)
		}
	}
	return missing
}

func requests(fix *diagnosticsv1alpha1.Fix, namespace string) []Request {
	var list []Request
	for _, step := range fix.Steps {
		object := Request{Group: step.Group, Resource: step.Resource, Namespace: step.Namespace, Name: step.Name}
		made := object
		made.Verb, object.Verb = cmp.Or(step.Verb, "patch"), "get"
		list = append(list, made, object)
	}
	if fix.Manifest != "" {
		list = append(list, Request{Verb: "delete", Resource: "pods", Namespace: namespace}, Request{Verb: "create", Resource: "pods", Namespace: namespace})
	}
	if slices.Contains(strings.Split(fix.Kind, "+"), addNode) {
		list = append(list, Request{Verb: "create", Resource: "nodes"})
	}
	for _, object := range fix.Mentions {
		if asked, needed := getting(object); needed {
			list = append(list, asked)
		}
	}
	return list
}

// BeyondRights is what the caller learns of a fix that needs rights the caller does not have.
func BeyondRights(fix *diagnosticsv1alpha1.Fix, missing []Request) *diagnosticsv1alpha1.FixBeyondRights {
	beyond := &diagnosticsv1alpha1.FixBeyondRights{Kind: fix.Kind, NodesUnlocked: fix.NodesUnlocked}
	for _, asked := range missing {
		beyond.Needs = append(beyond.Needs, asked.Right())
	}
	slices.Sort(beyond.Needs)
	beyond.Needs = slices.Compact(beyond.Needs)
	objects := map[Request]bool{}
	for _, step := range fix.Steps {
		objects[Request{Group: step.Group, Resource: step.Resource, Namespace: step.Namespace, Name: step.Name}] = true
	}
	beyond.Objects = int32(max(1, len(objects)))
	return beyond
}

// fix takes a fix back that the caller may not carry out. Who searches for it with these rights returns none; a scheduler of another
// version may not.
func fix(status *diagnosticsv1alpha1.PodExplanationStatus, may Access) {
	if status.Fix == nil {
		return
	}
	if missing := Missing(status.Fix, status.Pod.Namespace, may); len(missing) > 0 {
		status.FixBeyondRights, status.Fix = BeyondRights(status.Fix, missing), nil
	}
}

// fix keeps a fix that the caller may carry out, without the node that passes where it may not be named.
func (v *viewer) fix(f *diagnosticsv1alpha1.Fix) {
	if f == nil {
		return
	}
	if !v.node(f.Node) {
		f.Node = ""
	}
	f.Mentions = v.named(f.Mentions)
}
