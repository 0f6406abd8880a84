package engines

import (
	"context"
	"fmt"
	"time"

	"koordinator.sh/koord/decision/core/enginerun"
)

// readYARN reads applications from ResourceManagers, of which one is active.
func readYARN(addresses []string) func(ctx context.Context, since time.Time) ([]enginerun.Event, error) {
	managers := newWeb(addresses)
	return func(ctx context.Context, since time.Time) (events []enginerun.Event, err error) {
		path := "/ws/v1/cluster/apps?states=FINISHED,FAILED,KILLED&user.name=koordinator"
		if !since.IsZero() {
			path += fmt.Sprintf("&finishedTimeBegin=%d", since.UnixMilli())
		}
		err = managers.get(ctx, path, func(answer []byte) error {
			events, err = enginerun.ParseYARN(answer)
			return err
		})
		return events, err
	}
}
