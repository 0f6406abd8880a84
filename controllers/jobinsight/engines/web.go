package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// mostAnswer bounds an answer; an application is about 2 KiB.
	mostAnswer = 64 << 20
	// timeout bounds a request.
	timeout = 10 * time.Second
)

// web asks the web servers of an engine, of which one may be active.
type web struct {
	client    *http.Client
	addresses []string
	// headers that requests have.
	headers http.Header
	// active is the one that answered last.
	active int
}

func newWeb(addresses []string) *web {
	return &web{addresses: addresses, client: &http.Client{
		Timeout: timeout,
		// A standby redirects to where it takes the active one to be, which is asked itself.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get hands the answer of the first web server that has one which can be used, the one that answered last before the others.
func (w *web) get(ctx context.Context, path string, use func(answer []byte) error) error {
	var errs []error
	for i := range w.addresses {
		at := (w.active + i) % len(w.addresses)
		answer, err := w.ask(ctx, w.addresses[at]+path)
		if err == nil {
			err = use(answer)
		}
		if err == nil {
			w.active = at
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		errs = append(errs, fmt.Errorf("%s: %w", w.addresses[at], err))
	}
	return errors.Join(errs...)
}

func (w *web) ask(ctx context.Context, target string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	if w.headers != nil {
		request.Header = w.headers.Clone()
	}
	request.Header.Set("Accept", "application/json")
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{response.Status}
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer+1))
	if err == nil && len(answer) > mostAnswer {
		err = fmt.Errorf("the answer is larger than %d MiB", mostAnswer>>20)
	}
	return answer, err
}

// statusError is an answer that is not OK.
type statusError struct{ status string }

func (e *statusError) Error() string { return "the answer is " + e.status }
