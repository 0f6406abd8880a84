package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
)

// startManager runs koord-manager, until every node is in the list that it answers with.
func startManager(ctx context.Context, plane *controlplane.ControlPlane, ports koordmanager.Ports, chosen settings) (*koordmanager.Manager, error) {
	fmt.Fprintln(os.Stderr, "starting koord-manager")
	manager, err := koordmanager.Start(ctx, plane, chosen.manager, ports)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		answer, err := plane.Client.Discovery().RESTClient().Get().AbsPath("/apis/diagnostics.koordinator.sh/v1alpha1/nodeoverviews").DoRaw(ctx)
		if err != nil {
			return false, nil // it is not served yet
		}
		var list struct{ Items []struct{} }
		err = json.Unmarshal(answer, &list)
		return len(list.Items) == chosen.nodes, err
	})
	if err != nil {
		return nil, fmt.Errorf("wait until koord-manager lists all nodes: %w\n%s", err, manager.Tail())
	}
	return manager, nil
}
