package disclosure

import (
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Request is what a caller may or may not do. Without a namespace it is about the objects of all, without a name about any.
type Request struct {
	Verb, Group, Resource, Namespace, Name string
}

// Access reports whether the caller may carry out a request. It must be safe for concurrent use.
type Access func(Request) bool

// Right names verb and resource, as people ask for them: "patch elasticquotas.scheduling.sigs.k8s.io". It names no object.
func (r Request) Right() string { return r.Verb + " " + r.resource() }

func (r Request) resource() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// kinds are the resources of the objects that answers name.
var kinds = map[string]Request{
	"Node":         {Resource: "nodes"},
	"Pod":          {Resource: "pods"},
	"ElasticQuota": {Group: schedulingsigsv1alpha1.GroupVersion.Group, Resource: "elasticquotas"},
	"PodGroup":     {Group: schedulingsigsv1alpha1.GroupVersion.Group, Resource: "podgroups"},
	"Reservation":  {Group: schedulingv1alpha1.GroupVersion.Group, Resource: "reservations"},
}

// ofNode are the kinds with one object beside each Node, of the same name: a caller that may get the
// Node may see what they say of it.
var ofNode = map[string]bool{"Device": true, "NodeMetric": true, "NodeResourceTopology": true, "NodeSLO": true}

// open are the kinds that belong to the system, and not to any of its users: its configuration, and its defaults.
var open = map[string]bool{"ConfigMap": true, "Default": true, "LoadAwareSchedulingArgs": true, "ClusterColocationProfile": true}

// getting is the request that reads an object, or any of its kind where it has no name; false for a kind that every caller may see.
func getting(object diagnosticsv1alpha1.SourceRef) (Request, bool) {
	if open[object.Kind] {
		return Request{}, false
	}
	kind := object.Kind
	if ofNode[kind] {
		kind = "Node"
	}
	asked, known := kinds[kind]
	if !known {
		asked.Resource = strings.ToLower(kind) + "s"
	}
	asked.Verb, asked.Namespace, asked.Name = "get", object.Namespace, object.Name
	return asked, true
}

// all asks for any object of a kind.
func all(kind string) Request {
	asked := kinds[kind]
	asked.Verb = "get"
	return asked
}

// Everything reports whether the caller may get every kind of object that answers name.
func Everything(may Access) bool {
	for _, kind := range []string{"Node", "Pod", "ElasticQuota", "PodGroup", "Reservation"} {
		if !may(all(kind)) {
			return false
		}
	}
	return true
}
