package connection

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	// firstPatience and lastPatience are the shortest and the longest time between two attempts to reach an API server that is away,
	// give or take a quarter, so that agents do not come all together.
	firstPatience = time.Second
	lastPatience  = 6 * time.Second
	// mostRequested is the longest time that an API server may have agents wait.
	mostRequested = time.Minute
)

// Patient waits for an API server that is away, where an informer would give up its request and come back after up to a minute. A
// watch goes on where it was, so that nothing is listed again unless the API server has forgotten that version.
type Patient struct{ *cache.ListWatch }

// Follow returns what an informer follows the objects of a resource by that a selector of fields chooses.
func Follow(client rest.Interface, resource, fieldSelector string) Patient {
	narrow := func(o *metav1.ListOptions) { o.FieldSelector = fieldSelector }
	return Patient{cache.NewFilteredListWatchFromClient(once{client}, resource, metav1.NamespaceAll, narrow)}
}

// once makes requests that are not repeated by the client, which would come back after the very time that the API server asks for, as
// all other agents would that it refused at the same moment.
type once struct{ rest.Interface }

// Get implements cache.Getter.
func (o once) Get() *rest.Request { return o.Interface.Get().MaxRetries(0) }

// ListWithContext lists once the API server answers, or the context ends.
func (p Patient) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return patiently(ctx, func() (runtime.Object, error) { return p.ListWatch.ListWithContext(ctx, options) })
}

// WatchWithContext begins to watch once the API server answers, or the context ends.
func (p Patient) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return patiently(ctx, func() (watch.Interface, error) {
		watching, err := p.ListWatch.WatchWithContext(ctx, options)
		if err == nil && reflect.TypeOf(watching) == unanswered {
			return nil, errUnanswered
		}
		return watching, err
	})
}

// unanswered is the watch that client-go returns for a connection that was closed or timed out before there was an answer, as one
// through a load balancer is. An informer takes it for one that has ended, and lists again.
var unanswered = reflect.TypeOf(watch.NewEmptyWatch())

var errUnanswered = errors.New("the connection was closed before the API server answered")

func patiently[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for wait := firstPatience; ; wait = min(2*wait, lastPatience) {
		answer, err := ask()
		if err == nil || ctx.Err() != nil || !isAway(err) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(pause(wait, err)):
		}
	}
}

// pause is how long to wait after an attempt that failed: a time give or take a quarter, or what the API server asks for and up to
// three seconds more, so that those whom it refused together do not come back together.
func pause(wait time.Duration, err error) time.Duration {
	asked := requested(err)
	return max(wait*3/4, asked) + rand.N(max(wait, min(asked, lastPatience))/2)
}

// isAway reports whether there is no API server that answers, or one that is not ready to.
func isAway(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}

// requested is the time that the API server asks to wait.
func requested(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(max(seconds, 0))*time.Second, mostRequested)
}
