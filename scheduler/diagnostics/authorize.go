package diagnostics

import (
	"context"
	"strings"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"koordinator.sh/koord/scheduler/services"
)

// Group and resource that stand for what is served below services.Base, in the roles that grant access to it. There are no such objects.
const (
	servicesGroup    = "diagnostics.koordinator.sh"
	servicesVersion  = "v1alpha1"
	servicesResource = "schedulerservices"
)

// authorizeServices requires a separate permission for reading the scheduler's state, which names pods, quotas and the owners of CPUs
// and devices of all namespaces. The path is not enough, because every cluster lets all authenticated users get /apis/*
// (system:discovery). The object's name is that of the plugin, or the first part of another path: nodes, __services__.
func authorizeServices(next authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		below, found := strings.CutPrefix(attributes.GetPath(), services.Base)
		if !found {
			return next.Authorize(ctx, attributes)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(below, "plugins/"), "/")
		return next.Authorize(ctx, authorizer.AttributesRecord{
			User: attributes.GetUser(), Verb: attributes.GetVerb(), APIGroup: servicesGroup, APIVersion: servicesVersion,
			Resource: servicesResource, Name: name, ResourceRequest: true, Path: attributes.GetPath(),
		})
	})
}
