//! The rules, by the ids under which users find them.

use std::fmt;

use crate::object::Kind;

/// Makes the enum, the ids and the summaries from one table.
macro_rules! rules {
    ($($variant:ident $id:literal $summary:literal)*) => {
        /// One rule. The id is stable; the summary says when it speaks up.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $summary] $variant),* }

        impl Rule {
            /// Every rule, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The id under which users find the rule.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id),* }
            }

            /// When the rule speaks up, in one sentence.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),* }
            }
        }
    };
}

impl Rule {
    /// Whether the rule only remarks and never refuses.
    pub fn is_warning(self) -> bool {
        self.id().contains("-W")
    }

    /// Whether the rule can speak up about an object of a kind.
    pub fn concerns(self, kind: Kind) -> bool {
        let is_sink = matches!(kind, Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink);
        let is_inventory = matches!(kind, Kind::Inventory | Kind::ClusterInventory);
        let is_target = matches!(kind, Kind::Target | Kind::ClusterTarget);
        match self {
            Self::Obj03 => !kind.is_namespaced(),
            Self::Set01 => is_target || is_inventory || kind == Kind::ConnectionTest,
            Self::Tgt02 | Self::Tgt03 | Self::Tgt04 | Self::Tgt09 => is_target,
            Self::Tgt08 => is_target || kind == Kind::ClusterInventory,
            Self::InvW2 => is_inventory,
            Self::SnkW2
            | Self::SnkW3
            | Self::SnkW4
            | Self::SnkW5
            | Self::SnkW6
            | Self::SnkW7
            | Self::SnkW8 => kind == Kind::SnapshotSink,
            _ => match self.id().split('-').next().unwrap_or_default() {
                "OBJ" | "STR" | "SET" => true,
                "GEN" => is_inventory,
                "PRO" => kind == Kind::Profile,
                "TGT" => kind == Kind::Target,
                "CTG" => kind == Kind::ClusterTarget,
                "INV" => kind == Kind::Inventory,
                "CIV" => kind == Kind::ClusterInventory,
                "SNK" => is_sink,
                "GIT" | "SSK" => kind == Kind::SnapshotSink,
                "DSK" => kind == Kind::DatabaseSink,
                "ESK" => kind == Kind::EventSink,
                "SCP" => matches!(kind, Kind::Scope | Kind::ClusterScope),
                "CNT" => kind == Kind::ConnectionTest,
                _ => false,
            },
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

rules! {
    Obj01 "OBJ-01" "The apiVersion or the kind is not one of ours."
    Obj02 "OBJ-02" "The object has no name, or one that Kubernetes does not allow."
    Obj03 "OBJ-03" "A cluster-scoped object names a namespace."
    Str01 "STR-01" "A field is not part of the schema."
    Str02 "STR-02" "A value has the wrong type."
    Str03 "STR-03" "A required field is missing."
    Str04 "STR-04" "A value is none of the permitted ones."
    Str05 "STR-05" "A value is too long, too short, too large, too small, or of the wrong form."
    StrW1 "STR-W1" "A field is null, which server-side apply refuses."
    Gen01 "GEN-01" "A sink reference is neither a name nor an object with a name."
    Pro01 "PRO-01" "The version or kind of targetGVK is empty."
    Pro02 "PRO-02" "An attribute name is empty or repeated."
    Pro03 "PRO-03" "An attribute path is empty."
    Pro04 "PRO-04" "A path looks like CEL without its cel: prefix."
    Pro05 "PRO-05" "A CEL expression does not compile."
    Pro06 "PRO-06" "A path is none of the three forms, or its JSONPath does not compile."
    Pro07 "PRO-07" "A Helm path is empty, or reads a part of a release that is never exported."
    Pro08 "PRO-08" "A path can read the data of Secrets and the profile is not allowed to."
    Pro09 "PRO-09" "Mode Attributes without attributes."
    Pro10 "PRO-10" "export.as is the name of an attribute."
    Pro11 "PRO-11" "A JSON pointer is malformed."
    Pro12 "PRO-12" "Whole Secrets are exported and the profile is not allowed to."
    Pro13 "PRO-13" "A metric has no name, a repeated one, or refers to something that is no attribute."
    Pro14 "PRO-14" "A metric label is no legal Prometheus label, or one that Kollect sets."
    ProW1 "PRO-W1" "A path uses a filter."
    ProW4 "PRO-W4" "Neither attributes nor export: rows hold identity only."
    Tgt01 "TGT-01" "profileRef is blank or contains a slash."
    Tgt02 "TGT-02" "A listed namespace is empty, repeated, or no namespace name."
    Tgt03 "TGT-03" "The GVK of a resource rule lacks its version or kind."
    Tgt04 "TGT-04" "A matchPolicy does not compile, is not boolean, or asks for the data of Secrets."
    Tgt05 "TGT-05" "watchMode is neither All nor OptIn."
    Tgt06 "TGT-06" "The scope does not allow the kind."
    Tgt07 "TGT-07" "The scope does not allow an included namespace."
    Tgt08 "TGT-08" "A selector is malformed."
    Tgt09 "TGT-09" "A resource rule is for another kind than the profile."
    Inv01 "INV-01" "More than 20 sinks over the three lists."
    Inv02 "INV-02" "A sink reference has a blank name or one with a slash."
    Inv03 "INV-03" "A sink stands twice in one list."
    Inv04 "INV-04" "A namespaced inventory refers to a sink in another namespace."
    Inv05 "INV-05" "An interval is no duration between 0s and 24h."
    Inv06 "INV-06" "maxExportBytes is not above zero, or above the operator's limit."
    Inv07 "INV-07" "An interval is below the floor of the scope."
    Inv08 "INV-08" "The scope does not allow a sink."
    Inv09 "INV-09" "The namespace is called cluster, which is reserved for cluster inventories."
    InvW1 "INV-W1" "httpEndpoint.port has no effect."
    InvW2 "INV-W2" "The default interval is raised to the floor of the scope."
    Snk01 "SNK-01" "The type is missing or unknown."
    Snk02 "SNK-02" "A document path template is unsafe, incomplete, or has an unknown placeholder."
    Snk03 "SNK-03" "An object path template is unsafe, does not identify an object, or has an unknown placeholder."
    Snk04 "SNK-04" "The interval is no duration between 0s and 24h, or below the floor of the scope."
    Snk05 "SNK-05" "The endpoint names a host or scheme that is not allowed."
    Snk07 "SNK-07" "The type does not support the format or compression."
    Snk08 "SNK-08" "An option looks like a credential."
    Snk09 "SNK-09" "A value is none of the permitted ones, or below its minimum."
    Snk10 "SNK-10" "layout on a type that writes no files."
    Snk11 "SNK-11" "TLS trust or a Secret reference is contradictory or unreadable."
    Snk12 "SNK-12" "The type needs an endpoint, or one of another form."
    Snk13 "SNK-13" "provisioning.naming.template is not supported."
    Snk14 "SNK-14" "cluster holds characters that cannot stand in a path."
    Snk15 "SNK-15" "A local path is blank, climbs, or lies outside the operator's root."
    SnkW1 "SNK-W1" "provisioning.mode existing: nothing will be created."
    SnkW2 "SNK-W2" "Parquet is written with a fixed key, one object an inventory generation."
    SnkW3 "SNK-W3" "Both serialization.format and objectStore.format are set."
    SnkW4 "SNK-W4" "git or gitlab without a format: YAML is the default."
    SnkW5 "SNK-W5" "The path ends in .json and the format is another."
    SnkW6 "SNK-W6" "Content manifest needs profiles that export the resource."
    SnkW7 "SNK-W7" "Files that are no longer written are deleted in this layout."
    SnkW8 "SNK-W8" "ForcePush can overwrite history."
    SnkW9 "SNK-W9" "A field has no effect on this type."
    SnkW10 "SNK-W10" "insecureSkipVerify turns certificate checks off."
    SnkW11 "SNK-W11" "An option is unknown to this type."
    SnkW12 "SNK-W12" "This build has no backend of that type."
    SnkW13 "SNK-W13" "A Secret in another namespace must consent."
    Git01 "GIT-01" "A branch name is not one that Git allows."
    Git02 "GIT-02" "git.auth.type does not fit the endpoint."
    Ssk01 "SSK-01" "A snapshot sink has the block of another type, or lacks its own."
    Ssk02 "SSK-02" "Two hot attributes share one Parquet column."
    Ssk03 "SSK-03" "merge_request without targetBranch."
    Dsk01 "DSK-01" "A database sink has the block of another type, or lacks its own."
    Dsk02 "DSK-02" "A required setting of a database is blank."
    Esk01 "ESK-01" "An event sink has the block of another type, or lacks its own."
    Esk03 "ESK-03" "A required setting of a stream is blank."
    Esk04 "ESK-04" "A NATS URL carries credentials."
    Scp01 "SCP-01" "An allowed GVK lacks its version or kind."
    Scp02 "SCP-02" "An entry of a list is empty or repeated."
    Scp03 "SCP-03" "minExportInterval is no duration between 0s and 24h."
    ScpW1 "SCP-W1" "Several scopes: only the one whose name sorts first is in force."
    Cnt01 "CNT-01" "Not exactly one sink is named."
    Cnt02 "CNT-02" "A reference is blank or contains a slash."
    Ctg00 "CTG-00" "Tenant mode has no rights for cluster targets."
    Ctg01 "CTG-01" "profileRef.name is no object name."
    Ctg02 "CTG-02" "profileRef.namespace is no namespace name."
    Ctg03 "CTG-03" "namespaceSelector is absent or empty."
    Ctg05 "CTG-05" "The cluster scope does not allow the kind."
    Ctg06 "CTG-06" "The cluster scope does not allow an included namespace."
    Ctg07 "CTG-07" "The cluster scope does not allow the profile's namespace."
    Civ00 "CIV-00" "Tenant mode has no rights for cluster inventories."
    Civ01 "CIV-01" "profileRef is set and is no name and namespace."
    Civ02 "CIV-02" "A target reference is blank or contains a slash."
    Civ03 "CIV-03" "A listed namespace is blank, padded, repeated, or no namespace name."
    Civ04 "CIV-04" "Neither namespaceSelector nor namespaces is given."
    Civ05 "CIV-05" "Too many sinks, a blank or repeated sink name, or one with a slash."
    Civ06 "CIV-06" "The namespace of a sink reference is no namespace name."
    Civ07 "CIV-07" "An interval or size limit is out of range."
    Civ08 "CIV-08" "sinkNamespace is no namespace name, or dedupe is unknown."
    Civ09 "CIV-09" "An interval is below the floor of a scope."
    Civ10 "CIV-10" "The cluster scope does not allow the namespace of a profile or sink."
    Civ11 "CIV-11" "The cluster scope does not allow a sink."
    Set01 "SET-01" "A reference leads to an object that was not given."
    Set02 "SET-02" "Two objects have the same kind, namespace and name."
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
    }
}
