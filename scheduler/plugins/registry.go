package plugins

import (
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/coscheduling"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/elasticquota"
	"koordinator.sh/koord/scheduler/plugins/loadaware"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/noderesourcesfitplus"
	"koordinator.sh/koord/scheduler/plugins/scarceresourceavoidance"
	"koordinator.sh/koord/scheduler/plugins/schedulinghint"
	"koordinator.sh/koord/scheduler/plugins/usageclass"
	"koordinator.sh/koord/scheduler/reservepods"
)

// Parts are all plugins of koord-scheduler. Their seams are installed in this order.
func Parts() []part.Part {
	return []part.Part{
		loadaware.Part(),
		nodenumaresource.Part(),
		deviceshare.Part(),
		elasticquota.Part(),
		coscheduling.Part(),
		reservepods.Part(),
		part.Stateless(defaultprebind.Name, defaultprebind.New),
		part.Stateless(noderesourcesfitplus.Name, noderesourcesfitplus.New),
		part.Stateless(scarceresourceavoidance.Name, scarceresourceavoidance.New),
		part.Stateless(schedulinghint.Name, schedulinghint.New),
		part.Stateless(usageclass.Name, usageclass.New),
	}
}
