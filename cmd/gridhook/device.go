package main

import "github.com/spf13/cobra"

func newDeviceCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "device", plural: "devices", path: "/v1/devices/hvac", scope: g.forOrg,
		columns: "ID:deviceId, HOME:homeId, NAME:systemDetails.name, MODE:systemDetails.defaultMode, HEAT:targetHeatSetpoint, COOL:targetCoolSetpoint, UNITS:systemDetails.tempUnits, LINKED:linked",
		fields: "device:deviceId, home:homeId, name:systemDetails.name, mode:systemDetails.defaultMode, heat to:targetHeatSetpoint, cool to:targetCoolSetpoint, " +
			"lowest:minTemp, highest:maxTemp, units:systemDetails.tempUnits, linked:linked",
	}
	return g.talks(group("device", "Heating and cooling devices of homes",
		r.list("List the devices of an organization or a home", "  gridhook device list --org acme --home home-1",
			bodyFlag{name: "home", field: "homeId", help: "`home` of the devices to list (default all)"}),
		r.get("Show a device", "  gridhook device get thermostat-1 --org acme")))
}
