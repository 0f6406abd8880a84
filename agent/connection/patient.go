package connection

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	// firstPatience and lastPatience are the shortest and the longest time between two attempts to reach an API server that is away,
	// give or take a quarter, so that agents do not come all together.
	firstPatience = time.Second
	lastPatience  = 6 * time.Second
)

// Patient waits for an API server that is away, where an informer would give up its request and come back after up to a minute. A
// watch goes on where it was, so that nothing is listed again unless the API server has forgotten that version.
type Patient struct{ *cache.ListWatch }

// ListWithContext lists once the API server answers, or the context ends.
func (p Patient) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return patiently(ctx, func() (runtime.Object, error) { return p.ListWatch.ListWithContext(ctx, options) })
}

// WatchWithContext begins to watch once the API server answers, or the context ends.
func (p Patient) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return patiently(ctx, func() (watch.Interface, error) { return p.ListWatch.WatchWithContext(ctx, options) })
}

func patiently[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for wait := firstPatience; ; wait = min(2*wait, lastPatience) {
		answer, err := ask()
		if err == nil || ctx.Err() != nil || !isAway(err) {
			return answer, err
		}
		pause := max(wait*3/4+rand.N(wait/2), requested(err))
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(pause):
		}
	}
}

// isAway tells whether there is no API server that answers, or one that is not ready to.
func isAway(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}

// requested is the time that the API server asks to wait.
func requested(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(min(max(seconds, 0), 60)) * time.Second
}
