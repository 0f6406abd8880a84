package kubectlplugin

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/source"
)

// writeAttempts bounds how often a change is made again over what others wrote meanwhile.
const writeAttempts = 10

// applied is what became of a change.
type applied struct {
	// Revision that was kept of it; 0 with DryRun, or when it could not be kept.
	Revision int64 `json:"revision,omitempty"`
	// ResourceVersion of the ConfigMap.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// DryRun is true when nothing was stored.
	DryRun bool `json:"dryRun,omitempty"`
}

// write stores a change. When the configuration has changed since it was read, the change is made again over the new state,
// unless both change the same. It returns the plan that holds for what was written.
func (o *changeFlags) write(ctx context.Context, s *session, configurator source.Configurator, made *madePlan) (*madePlan, *applied, error) {
	if o.dryRun == dryrun.Client {
		return made, &applied{DryRun: true}, nil
	}
	for attempt := 1; ; attempt++ {
		out, err := o.writeOnce(ctx, s, configurator, made.change)
		if coded, ok := finding.From(err); !ok || coded.Code != finding.ConfigChanged || made.change.redo == nil || attempt == writeAttempts {
			return made, out, err
		}
		next, again := rebase(ctx, s, configurator, made.change)
		if again != nil {
			return nil, nil, again
		}
		if maps.Equal(next.data, next.current.Data) {
			return made, &applied{ResourceVersion: next.current.ResourceVersion, DryRun: o.dryRun.On()}, nil
		}
		if made, err = makePlan(ctx, s, configurator, next); err != nil {
			return nil, nil, err
		}
		if err := o.allow(s, made); err != nil {
			return nil, nil, err
		}
		lineTo(s.Streams.ErrOut, "%s was modified concurrently in other fields; applying the change to its new state.", configMapName(next.current))
	}
}

// rebase makes a change over the state that is there now.
func rebase(ctx context.Context, s *session, configurator source.Configurator, c change) (change, error) {
	fresh, err := configurator.Configuration(ctx, s.systemNamespace())
	if err != nil {
		return c, err
	}
	overlap := decision.Overlap
	if c.whole {
		overlap = decision.OverlappingKeys
	}
	if both := overlap(c.current.Data, c.data, fresh.Data); len(both) > 0 {
		err := fmt.Errorf("write configmap %s/%s: %s was modified concurrently, and %s", fresh.Namespace, fresh.Name, strings.Join(both, ", "), nothingWritten)
		return c, finding.Wrap(err, finding.ConfigChanged, "koordctl config get "+both[0]+" shows what is there now")
	}
	data, err := c.redo(fresh.Data)
	if err != nil {
		return c, err
	}
	c.current, c.data = fresh, data
	return c, nil
}

// writeOnce keeps the state before, if no revision has it, then writes, then keeps what was written. Interrupted anywhere,
// the next command finds the state that no revision has.
func (o *changeFlags) writeOnce(ctx context.Context, s *session, configurator source.Configurator, c change) (*applied, error) {
	write := source.ConfigurationWrite{Base: c.current, Data: c.data, Force: o.forceConflicts, DryRun: o.dryRun.On()}
	if !write.DryRun {
		if err := keepCurrent(ctx, configurator, write); err != nil {
			return nil, err
		}
	}
	stored, err := configurator.WriteConfiguration(ctx, write)
	if err != nil {
		return nil, err
	}
	out := &applied{ResourceVersion: stored.ResourceVersion, DryRun: write.DryRun}
	if write.DryRun {
		return out, nil
	}
	// What is written has its revision, also when the user interrupts now.
	kept, err := configurator.KeepRevision(context.WithoutCancel(ctx), c.current.Namespace,
		source.Revision{User: s.user(ctx), Cause: c.cause, ResourceVersion: stored.ResourceVersion, Data: stored.Data})
	if err != nil {
		lineTo(s.Streams.ErrOut, "Warning: the configuration was written, but no revision could be kept: %v", err)
		return out, nil
	}
	out.Revision = kept.Number
	return out, nil
}

// keepCurrent keeps a state that somebody made in another way. The write is tried before, so that one that is refused leaves
// no revision behind.
func keepCurrent(ctx context.Context, configurator source.Configurator, write source.ConfigurationWrite) error {
	current := write.Base
	revisions, err := configurator.Revisions(ctx, current.Namespace)
	if err != nil {
		return fmt.Errorf("keep the current state for rollback: %w", err)
	}
	if !current.Exists || len(revisions) > 0 && maps.Equal(revisions[len(revisions)-1].Data, current.Data) {
		return nil
	}
	write.DryRun = true
	if _, err := configurator.WriteConfiguration(ctx, write); err != nil {
		return err
	}
	_, err = configurator.KeepRevision(ctx, current.Namespace, source.Revision{Cause: source.FoundCause, ResourceVersion: current.ResourceVersion, Data: current.Data})
	if err != nil {
		return fmt.Errorf("keep the current state for rollback: %w", err)
	}
	return nil
}

// user is who writes, as far as the kubeconfig says.
func (s *session) user(ctx context.Context) string {
	src, err := s.connect()
	if err != nil {
		return ""
	}
	// The parts that need no connection are filled in also with an error.
	cluster, _ := src.Describe(ctx)
	return cluster.User
}
