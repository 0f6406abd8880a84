package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"koordinator.sh/koord/build/recording/cast"
	"koordinator.sh/koord/build/recording/journey"
	"koordinator.sh/koord/build/recording/terminal"
	"koordinator.sh/koord/test/sandboxtest"
)

// beginning is how long the empty terminal is shown.
const beginning = 600 * time.Millisecond

// play types the steps of a journey and returns what was shown.
func play(ctx context.Context, sandbox *sandboxtest.Sandbox, j journey.Journey) (recording cast.Recording, err error) {
	directory := filepath.Dir(sandbox.Program("koordctl"))
	session, err := terminal.Open(ctx, j.Title, j.Columns, j.Rows, sandbox.Home, []string{
		"PATH=" + directory + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + sandbox.Home,
		"KOORD_STATE_HOME=" + sandbox.Home, "KUBECONFIG=" + sandbox.Kubeconfig,
	})
	if err != nil {
		return recording, err
	}
	defer func() {
		var closing error
		recording, closing = session.Close()
		err = errors.Join(err, closing)
	}()
	if err := session.Await(ctx, nil, true); err != nil {
		return recording, err
	}
	session.Hold(beginning)
	for _, step := range j.Steps {
		if err := session.Type(ctx, step.Keys); err != nil {
			return recording, err
		}
		if err := session.Await(ctx, step.Texts, step.Shell); err != nil {
			return recording, fmt.Errorf("after %q: %w", step.Keys, err)
		}
		session.Hold(step.Read)
	}
	return recording, nil
}

// longestSettling bounds the wait until a journey can begin.
const longestSettling = 3 * time.Minute

// prepare creates the objects of a journey, and waits until it can begin.
func prepare(ctx context.Context, sandbox *sandboxtest.Sandbox, j journey.Journey) error {
	if j.Objects != "" {
		if err := create(sandbox, j.Objects); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, longestSettling)
	defer cancel()
	for _, condition := range j.Ready {
		if err := await(ctx, sandbox, condition); err != nil {
			return err
		}
	}
	return nil
}

func create(sandbox *sandboxtest.Sandbox, manifest string) error {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &sandbox.Kubeconfig
	result := resource.NewBuilder(flags).Unstructured().Stream(strings.NewReader(manifest), "the journey's manifest").Flatten().Do()
	err := result.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		_, err = resource.NewHelper(info.Client, info.Mapping).Create(info.Namespace, true, info.Object)
		return err
	})
	if err != nil {
		return fmt.Errorf("create the objects of the journey: %w", err)
	}
	return nil
}

func await(ctx context.Context, sandbox *sandboxtest.Sandbox, condition journey.Condition) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		result, err := sandbox.Koordctl(ctx, condition.Command...)
		if err == nil && condition.Output.MatchString(result.Stdout+result.Stderr) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("koordctl %s does not print %s: %w\n%s%s", strings.Join(condition.Command, " "), condition.Output, errors.Join(err, ctx.Err()), result.Stdout, result.Stderr)
		}
	}
}
