package release

import (
	"context"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
)

// Install brings the cluster to the chart of this program and the options' values: resource definitions first, then the
// release, created or upgraded. Doing it twice is harmless. Errors are *finding.Error with InstallFailed,
// ReleaseForeign or InvalidArgument, or those of the connection and of rights as they are.
func Install(ctx context.Context, clients genericclioptions.RESTClientGetter, options Options) (*Result, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := newSession(clients, options)
	if err != nil {
		return nil, explain(err, "install")
	}
	result, err := s.install(ctx, clock.RealClock{})
	return result, explain(err, fmt.Sprintf("install release %q in namespace %q", options.ReleaseName, options.Namespace))
}

func (s *session) install(ctx context.Context, clock clock.PassiveClock) (*Result, error) {
	if err := s.helm.KubeClient.IsReachable(); err != nil {
		return nil, err
	}
	last, err := s.last(ctx)
	if err != nil {
		return nil, err
	}
	if last, err = s.clearPending(last, clock.Now()); err != nil {
		return nil, err
	}
	loaded, err := loadChart()
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx, loaded); err != nil {
		return nil, err
	}
	changes, err := s.applyDefinitions(ctx)
	if err != nil {
		return nil, err
	}
	next, err := s.run(ctx, last, loaded)
	if err != nil {
		return nil, err
	}
	result := &Result{Release: fromHelm(next), Changes: changes, Upgrade: last != nil, DryRun: s.options.DryRun}
	if s.options.DryRun {
		current := ""
		if last != nil {
			current = last.Manifest
		}
		previewed, err := s.preview(ctx, current, next.Manifest)
		if err != nil {
			return nil, err
		}
		result.Changes = append(result.Changes, previewed...)
	}
	return result, nil
}

// check finds what would make the installation fail half-way, after the definitions were applied: a cluster that is too old,
// and values that the chart refuses.
func (s *session) check(ctx context.Context, loaded *chart.Chart) error {
	version, err := s.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("get the server version: %w", err)
	}
	if wanted := loaded.Metadata.KubeVersion; !util.IsCompatibleRange(wanted, version.GitVersion) {
		return finding.Wrap(fmt.Errorf("the cluster runs Kubernetes %s, which is not supported: it must be %s", version.GitVersion, wanted),
			finding.InstallFailed, "upgrade the cluster, or use a version of koordctl that supports it")
	}
	_, err = renderRelease(ctx, s.options)
	return err
}

// clearPending deals with a revision whose installer did not finish: within the grace period it is respected, after that
// it is marked as failed, from which Helm can go on.
func (s *session) clearPending(last *release.Release, now time.Time) (*release.Release, error) {
	if last == nil || last.Info == nil || !unfinished(last.Info.Status) {
		return last, nil
	}
	age := now.Sub(last.Info.LastDeployed)
	if age < s.options.PendingGrace && age > -s.options.PendingGrace {
		return nil, finding.Wrap(
			fmt.Errorf("revision %d of release %q is %s since %s: another installation is in progress or was interrupted",
				last.Version, last.Name, last.Info.Status, age.Round(time.Second)),
			finding.InstallFailed, fmt.Sprintf("try again in %s", (s.options.PendingGrace-age).Round(time.Second)))
	}
	if s.options.DryRun {
		last.Info.Status = common.StatusFailed
		return last, nil
	}
	last.SetStatus(common.StatusFailed, "the installation was interrupted")
	if err := s.helm.Releases.Update(last); err != nil {
		return nil, fmt.Errorf("mark interrupted revision %d as failed: %w", last.Version, err)
	}
	return last, nil
}

func unfinished(status common.Status) bool {
	return status.IsPending() || status == common.StatusUninstalling
}

func (s *session) run(ctx context.Context, last *release.Release, loaded *chart.Chart) (*release.Release, error) {
	var outcome any
	var err error
	if last == nil {
		if err := s.ensureNamespace(ctx); err != nil {
			return nil, err
		}
		outcome, err = s.newInstall().RunWithContext(ctx, loaded, s.options.Values)
	} else {
		outcome, err = s.newUpgrade().RunWithContext(ctx, s.options.ReleaseName, loaded, s.options.Values)
	}
	if err != nil {
		return nil, err
	}
	typed, ok := outcome.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("unknown release format %T", outcome)
	}
	return typed, nil
}

func (s *session) newInstall() *action.Install {
	install := action.NewInstall(s.helm)
	install.ReleaseName = s.options.ReleaseName
	install.Namespace = s.options.Namespace
	install.CreateNamespace = true
	install.SkipCRDs = true
	install.Timeout = s.options.Timeout
	install.WaitStrategy = s.waitStrategy()
	install.DryRunStrategy = s.dryRunStrategy()
	install.ForceConflicts = s.options.ForceConflicts
	install.TakeOwnership = s.options.TakeOwnership
	return install
}

func (s *session) newUpgrade() *action.Upgrade {
	upgrade := action.NewUpgrade(s.helm)
	upgrade.Namespace = s.options.Namespace
	upgrade.SkipCRDs = true
	upgrade.Timeout = s.options.Timeout
	upgrade.WaitStrategy = s.waitStrategy()
	upgrade.DryRunStrategy = s.dryRunStrategy()
	upgrade.ForceConflicts = s.options.ForceConflicts
	upgrade.TakeOwnership = s.options.TakeOwnership
	upgrade.ResetValues = s.options.ResetValues
	upgrade.ResetThenReuseValues = !s.options.ResetValues
	upgrade.MaxHistory = maxHistory
	return upgrade
}

func (s *session) waitStrategy() kube.WaitStrategy {
	if s.options.Wait {
		return kube.StatusWatcherStrategy
	}
	return kube.HookOnlyStrategy
}

func (s *session) dryRunStrategy() action.DryRunStrategy {
	if s.options.DryRun {
		return action.DryRunServer
	}
	return action.DryRunNone
}
