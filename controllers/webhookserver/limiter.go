package webhookserver

import (
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxBody is the largest review: two objects of 3 MiB, the most that API servers take, and what is said around them.
	maxBody = 7 << 20
	// maxInFlight bounds the bodies of all reviews that are answered at the same time. Decoded, they take several times that.
	maxInFlight = 48 << 20
	// maxPerSource bounds those from one address, so that no other client can keep the API server from being answered.
	maxPerSource = maxInFlight / 2
	// minWeight is what the smallest review counts as.
	minWeight = 16 << 10
	// readTimeout is how long a client may take to send a review.
	readTimeout = 10 * time.Second
)

// limiter bounds what is read from clients at the same time.
type limiter struct {
	all, each int64

	mu       sync.Mutex
	inFlight int64
	sources  map[string]int64
}

func newLimiter(all, each int64) *limiter {
	return &limiter{all: all, each: each, sources: map[string]int64{}}
}

// bound answers 413 to reviews that are too large, and 429 where too much is in flight.
func (l *limiter) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			refuse(w, resultTooLarge, http.StatusRequestEntityTooLarge)
			return
		}
		source, weight := sourceOf(r), weightOf(r)
		if !l.take(source, weight) {
			refuse(w, resultTooMany, http.StatusTooManyRequests)
			return
		}
		defer l.give(source, weight)
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
			refuse(w, resultTooMany, http.StatusInternalServerError)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, result string, code int) {
	count(result)
	http.Error(w, http.StatusText(code), code)
}

// weightOf a review is the length that it says it has, or the most it may have.
func weightOf(r *http.Request) int64 {
	if r.ContentLength < 0 {
		return maxBody
	}
	return max(r.ContentLength, minWeight)
}

// sourceOf a request is the client's address.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func (l *limiter) take(source string, weight int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight+weight > l.all || l.sources[source]+weight > l.each {
		return false
	}
	l.inFlight += weight
	l.sources[source] += weight
	return true
}

func (l *limiter) give(source string, weight int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight -= weight
	if l.sources[source] -= weight; l.sources[source] == 0 {
		delete(l.sources, source)
	}
}
