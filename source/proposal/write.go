package proposal

import (
	"context"
	"fmt"
	"maps"

	"koordinator.sh/koord/source"
)

// Options say how a change is written.
type Options struct {
	// User who writes, as far as known.
	User string
	// Force takes over what another program keeps.
	Force bool
	// DryRun asks the server to check everything and to store nothing.
	DryRun bool
}

// Written is what became of a change.
type Written struct {
	// Revision that was kept of it; 0 with DryRun, or when it could not be kept.
	Revision int64 `json:"revision,omitempty"`
	// ResourceVersion of the ConfigMap.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// DryRun is true when nothing was stored.
	DryRun bool `json:"dryRun,omitempty"`
	// Unkept is why no revision could be kept; nil when it was.
	Unkept error `json:"-"`
}

// Write keeps the state before, if no revision has it, then writes over the version that was read, then keeps what was written.
// Interrupted anywhere, the next change finds the state that no revision has.
func Write(ctx context.Context, configurator source.Configurator, c Change, o Options) (*Written, error) {
	write := source.ConfigurationWrite{Base: c.Current, Data: c.Data, Force: o.Force, DryRun: o.DryRun}
	if !write.DryRun {
		if err := keepCurrent(ctx, configurator, write); err != nil {
			return nil, err
		}
	}
	stored, err := configurator.WriteConfiguration(ctx, write)
	if err != nil {
		return nil, err
	}
	out := &Written{ResourceVersion: stored.ResourceVersion, DryRun: write.DryRun}
	if write.DryRun {
		return out, nil
	}
	// What is written has its revision, also when the user interrupts now.
	kept, err := configurator.KeepRevision(context.WithoutCancel(ctx), c.Current.Namespace,
		source.Revision{User: o.User, Cause: c.Cause, ResourceVersion: stored.ResourceVersion, Data: stored.Data})
	if err != nil {
		out.Unkept = fmt.Errorf("the configuration was written, but no revision could be kept: %w", err)
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
