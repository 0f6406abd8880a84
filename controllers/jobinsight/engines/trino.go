package engines

import (
	"context"
	"net/http"
	"time"

	"koordinator.sh/koord/decision/core/enginerun"
)

// readTrino reads queries from the coordinator of Trino or Presto, which remembers the last ones for some minutes only.
func readTrino(addresses []string) func(ctx context.Context, since time.Time) ([]enginerun.Event, error) {
	coordinators := newWeb(addresses)
	coordinators.headers = http.Header{"X-Trino-User": {"koordinator"}, "X-Presto-User": {"koordinator"}}
	return func(ctx context.Context, _ time.Time) (events []enginerun.Event, err error) {
		err = coordinators.get(ctx, "/v1/query", func(answer []byte) error {
			events, err = enginerun.ParseTrino(answer)
			return err
		})
		return events, err
	}
}
