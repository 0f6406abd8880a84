package kubectlplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/deviceview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const topDevicesLong = `Show the GPUs, network cards and FPGAs of nodes, from their Devices and from what koord-scheduler allocated to pods and Reservations.

  STATE    Overheld (pods hold more of a device than there is), Stray (a pod holds a device that is gone, replaced or not healthy),
           Unhealthy, Unknown (pods or Reservations cannot be seen), Full, Used, Idle, or Unmanaged (koord-scheduler does not
           allocate the type)
  HEALTHY  healthy devices / devices
  FREE     sum of what is free, in devices
  WHOLE    devices that nothing holds; the rest of FREE is in pieces
  LARGEST  the largest request that still fits, going by devices alone: whole devices, or a share of one
  HOLDERS  pods and Reservations that hold devices

With names of nodes, or with -o wide, each device has a row:

  FREE     share of the device that is free; MEM-FREE is its memory, free / total
  NUMA     the NUMA node; PCIE is the PCIe switch
  NEAR     the network cards near a GPU, or the GPUs near a network card: on the same PCIe switch, or (NUMA) on the same NUMA node
  VFS      virtual functions held / there are
  HELD-BY  pods and Reservations that hold the device, with their share where it is not all of it

GPU partitions, and findings about what pods hold, are listed below the devices. A question mark is a value that you do not have
permission to read; see standard error.`

const topDevicesExamples = `  # Show where devices are free
  %[1]s top devices

  # Show each device of a node, who holds it, and which network cards are near which GPUs
  %[1]s top devices gpu-1

  # Show each device of all nodes
  %[1]s top devices -o wide

  # Show the nodes with the largest room for GPUs first
  %[1]s top devices --sort-by=largest

  # Print the pods that hold GPU 0 of a node
  %[1]s top devices gpu-1 -o jsonpath='{.items[0].types[?(@.type=="gpu")].minors[?(@.minor==0)].holders[*].name}'`

type deviceOverview = diagnosticsv1alpha1.DeviceOverview

// deviceOrders are the words of --sort-by for devices. Amounts are those of the first type of a node, GPUs where it has any, and come
// largest first, a missing one last; the gravest state first.
var deviceOrders = []order[deviceOverview]{
	{"name", func(a, b *deviceOverview) int { return strings.Compare(a.Name, b.Name) }},
	{"state", gravestFirst},
	{"free", func(a, b *deviceOverview) int {
		return largestFirst(deviceAmount(a, freePercent), deviceAmount(b, freePercent))
	}},
	{"largest", func(a, b *deviceOverview) int {
		return largestFirst(deviceAmount(a, deviceview.Largest), deviceAmount(b, deviceview.Largest))
	}},
}

func gravestFirst(a, b *deviceOverview) int {
	return cmp.Compare(deviceview.Rank(deviceview.Gravest(a)), deviceview.Rank(deviceview.Gravest(b)))
}

// deviceAmount is an amount of the first type of a node; nil without one.
func deviceAmount(o *deviceOverview, of func(*diagnosticsv1alpha1.DeviceTypeOverview) *int64) *int64 {
	if len(o.Types) == 0 {
		return nil
	}
	return of(&o.Types[0])
}

func freePercent(t *diagnosticsv1alpha1.DeviceTypeOverview) *int64 { return t.FreePercent }

// newTopDevicesCommand lists nodes as top nodes does, a row for each type of device, since the first question is where something is free.
// With names of nodes the question is about the machines, as with nvidia-smi, and each device has a row; with -o wide as well, because that
// leaves nothing out.
func newTopDevicesCommand(s *session) *cobra.Command {
	devices := false // whether each device has a row
	return newListingCommand(s, source.KindDevice, listing[deviceOverview, diagnosticsv1alpha1.DeviceOverviewList]{
		help:   help{short: "Show GPUs, network cards and FPGAs: free, whole, in pieces, held by whom, and near what", long: topDevicesLong, examples: topDevicesExamples},
		orders: deviceOrders,
		ask: func(ctx context.Context, src source.Source, q query) (*diagnosticsv1alpha1.DeviceOverviewList, error) {
			viewer, can := src.(source.DeviceViewer)
			if !can {
				return nil, errors.New("list Devices: not available from this source")
			}
			devices = len(q.names) > 0 || q.format == "wide"
			return viewer.DeviceOverviews(ctx, source.DeviceQuery{Names: q.names, LabelSelector: q.labels})
		},
		items:      func(list *diagnosticsv1alpha1.DeviceOverviewList) *[]deviceOverview { return &list.Items },
		incomplete: func(list *diagnosticsv1alpha1.DeviceOverviewList) []string { return list.Incomplete },
		print: func(w io.Writer, list *diagnosticsv1alpha1.DeviceOverviewList, o printer.Options) error {
			if devices {
				return printer.DeviceMinors(w, list, o)
			}
			return printer.DeviceOverviews(w, list, o)
		},
		after: func(list *diagnosticsv1alpha1.DeviceOverviewList, program string) []string {
			lines := printer.DeviceTotals(list)
			if !devices {
				lines = append(lines, nextDevices(list, program)...)
			}
			return lines
		},
	})
}

// nextDevices is the command that leads on from the gravest problem.
func nextDevices(list *diagnosticsv1alpha1.DeviceOverviewList, program string) []string {
	if len(list.Items) == 0 {
		return nil
	}
	o := slices.MinFunc(list.Items, func(a, b deviceOverview) int { return gravestFirst(&a, &b) })
	for i := range o.Types {
		if t := &o.Types[i]; deviceview.IsProblem(t.State) && t.State == deviceview.Gravest(&o) {
			line := fmt.Sprintf("%s %s is %s, %s: see %s top devices %s", o.Name, t.Type, t.State, t.Reason, program, o.Name)
			return []string{printer.Style{}.Clean(line)}
		}
	}
	return nil
}
