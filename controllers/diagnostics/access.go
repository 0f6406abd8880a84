package diagnostics

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"koordinator.sh/koord/grants"
)

// subject is the object that is explained.
type subject struct {
	resource  schema.GroupVersionResource
	namespace string
	name      string
}

// requireGet fails unless the user may get the subject: an answer reveals as much about an object as reading it would. The
// error has the wording of the API server: user, verb, resource and namespace.
func requireGet(ctx context.Context, decide authorizer.Authorizer, about subject) error {
	return require(ctx, decide, "get", about)
}

// requireAll fails unless the user may do something with all the subjects. The API server is asked about all of them at the same time; of
// several errors, the first subject's is returned.
func requireAll(ctx context.Context, decide authorizer.Authorizer, verb string, about []subject) error {
	errs := make([]error, len(about))
	var group sync.WaitGroup
	for i := range about {
		group.Go(func() { errs[i] = require(ctx, decide, verb, about[i]) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// require fails unless the user may do something with the subject.
func require(ctx context.Context, decide authorizer.Authorizer, verb string, about subject) error {
	caller, ok := request.UserFrom(ctx)
	if !ok {
		return apierrors.NewUnauthorized("the request has no user")
	}
	attributes := authorizer.AttributesRecord{
		User:            caller,
		Verb:            verb,
		Namespace:       about.namespace,
		APIGroup:        about.resource.Group,
		APIVersion:      about.resource.Version,
		Resource:        about.resource.Resource,
		Name:            about.name,
		ResourceRequest: true,
	}
	decision, reason, err := decide.Authorize(ctx, attributes)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("check access to %s %q: %w", about.resource.Resource, about.name, err))
	}
	if decision != authorizer.DecisionAllow {
		return responsewriters.ForbiddenStatusError(attributes, reason)
	}
	return nil
}

// grantsOf returns the permissions of the user, for one answer.
func grantsOf(ctx context.Context, decide authorizer.Authorizer) (*grants.Grants, error) {
	caller, ok := request.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewUnauthorized("the request has no user")
	}
	return grants.Of(ctx, decide, caller), nil
}

// checked fails if the permissions of the user could not be checked: the answer would be incomplete.
func checked(of *grants.Grants) error {
	if err := of.Err(); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}
