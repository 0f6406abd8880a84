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
	"koordinator.sh/koord/source/proposal"
)

// writeAttempts bounds how often a change is made again over what others wrote meanwhile.
const writeAttempts = 10

// write stores a change. When the configuration has changed since it was read, the change is made again over the new state,
// unless both change the same. It returns the plan that holds for what was written.
func (o *changeFlags) write(ctx context.Context, s *session, configurator source.Configurator, made *madePlan) (*madePlan, *proposal.Written, error) {
	if o.dryRun == dryrun.Client {
		return made, &proposal.Written{DryRun: true}, nil
	}
	for attempt := 1; ; attempt++ {
		out, err := o.writeOnce(ctx, s, configurator, made.Change)
		if coded, ok := finding.From(err); !ok || coded.Code != finding.ConfigChanged || made.Change.Redo == nil || attempt == writeAttempts {
			return made, out, err
		}
		next, again := rebase(ctx, s, configurator, made.Change)
		if again != nil {
			return nil, nil, again
		}
		if maps.Equal(next.Data, next.Current.Data) {
			return made, &proposal.Written{ResourceVersion: next.Current.ResourceVersion, DryRun: o.dryRun.On()}, nil
		}
		if made, err = makePlan(ctx, s, configurator, next); err != nil {
			return nil, nil, err
		}
		if err := o.allow(s, made); err != nil {
			return nil, nil, err
		}
		s.tell("%s was modified concurrently in other fields; applying the change to its new state.", next.Subject())
	}
}

// rebase makes a change over the state that is there now.
func rebase(ctx context.Context, s *session, configurator source.Configurator, c proposal.Change) (proposal.Change, error) {
	fresh, err := configurator.Configuration(ctx, s.systemNamespace())
	if err != nil {
		return c, err
	}
	overlap := decision.Overlap
	if c.Whole {
		overlap = decision.OverlappingKeys
	}
	if both := overlap(c.Current.Data, c.Data, fresh.Data); len(both) > 0 {
		err := fmt.Errorf("write configmap %s/%s: %s was modified concurrently, and %s", fresh.Namespace, fresh.Name, strings.Join(both, ", "), nothingWritten)
		return c, finding.Wrap(err, finding.ConfigChanged, "koordctl config get "+both[0]+" shows what is there now")
	}
	data, err := c.Redo(fresh.Data)
	if err != nil {
		return c, err
	}
	c.Current, c.Data = fresh, data
	return c, nil
}

// writeOnce writes a change over the version that was read.
func (o *changeFlags) writeOnce(ctx context.Context, s *session, configurator source.Configurator, c proposal.Change) (*proposal.Written, error) {
	options := proposal.Options{Force: o.forceConflicts, DryRun: o.dryRun.On()}
	if !options.DryRun {
		options.User = s.user(ctx)
	}
	out, err := proposal.Write(ctx, configurator, c, options)
	if err == nil && out.Unkept != nil {
		s.tell("Warning: %v", out.Unkept)
	}
	return out, err
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
