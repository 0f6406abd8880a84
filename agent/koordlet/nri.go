package koordlet

import (
	"context"

	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/hooks/nri"
)

// connectNRI keeps the agent connected to the container runtime until the context ends.
func connectNRI(ctx context.Context, options *Options, advisor *hooks.Advisor) {
	nri.Run(ctx, nri.Options{Advisor: advisor, Socket: options.Hooks.NRISocket, Clock: options.Clock})
}
