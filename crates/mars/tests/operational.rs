//! A schema in the manner of an operational centre: it parses unchanged and does what its rules say.

#[cfg(test)]
mod tests {
    use isotach_mars::{Key, Match, Schema};

    const OPERATIONAL: &str = include_str!("schemas/operational.schema");

    #[track_caller]
    fn is_split(of: &str, expected: &str) {
        let schema = Schema::parse(OPERATIONAL).unwrap();
        let split = schema.split(&of.parse::<Key>().unwrap()).unwrap();
        assert_eq!(format!("{} | {} | {}", split.dataset, split.collocation, split.element), expected);
        let plans = schema.plans(&of.parse().unwrap(), Match::Exact).unwrap();
        let plan = plans.iter().find(|plan| plan.rule == split.rule).unwrap();
        assert!(plan.dataset.matches(&split.dataset) && plan.collocation.matches(&split.collocation));
        assert!(plan.element.matches(&split.element));
    }

    #[test]
    fn it_reads_and_shows_unchanged() {
        let schema = Schema::parse(OPERATIONAL).unwrap();
        assert_eq!(schema.rules().count(), 23);
        assert_eq!(schema.source(), OPERATIONAL);
        let shown = Schema::parse(&schema.to_string()).unwrap();
        assert_eq!(shown, schema);
        assert_eq!(shown.digest(), schema.digest());
        assert_ne!(shown.digest(), Schema::standard().digest());
    }

    #[test]
    fn each_product_goes_where_its_rule_says() {
        is_split(
            "class=od,expver=1,stream=oper,date=20240101,time=0,domain=g,type=4i,levtype=ml,step=3,iteration=2,levelist=137,param=t",
            "class=od,expver=0001,stream=oper,date=20240101,time=0000,domain=g | type=4i,levtype=ml | step=3,iteration=2,levelist=137,param=130",
        );
        is_split(
            "class=ti,expver=1,stream=enfo,date=20240101,time=0,model=glob,origin=ecmf,type=pf,levtype=sfc,step=6,number=1,param=167",
            "class=ti,expver=0001,stream=enfo,date=20240101,time=0000,model=glob | origin=ecmf,type=pf,levtype=sfc | step=6,number=1,param=167",
        );
        is_split(
            "class=ms,expver=1,stream=cher,date=20240101,time=0,country=it,domain=g,type=fc,levtype=sfc,model=lami,bcmodel=x,icmodel=ABCDE,step=6,param=167",
            "class=ms,expver=0001,stream=cher,date=20240101,time=0000,country=it | domain=g,type=fc,levtype=sfc,model=lami,bcmodel=x,icmodel=abc | step=6,param=167",
        );
        is_split(
            "class=ea,expver=1,stream=mnth,date=20240101,time=0,domain=g,type=an,levtype=sfc,param=167",
            "class=ea,expver=0001,stream=mnth,domain=g | type=an,levtype=sfc | date=202401,time=0000,param=167",
        );
        is_split(
            "class=ea,expver=1,stream=mnth,date=may,time=0,domain=g,type=cl,levtype=sfc,param=167",
            "class=ea,expver=0001,stream=mnth,domain=g | type=cl,levtype=sfc | date=5,time=0000,param=167",
        );
        is_split(
            "class=ei,expver=1,stream=dacl,date=mar-05,time=0,domain=g,type=pb,levtype=sfc,step=0-24,quantile=1:10,param=228",
            "class=ei,expver=0001,stream=dacl,domain=g | type=pb,levtype=sfc | date=0305,time=0000,step=0-24,quantile=1:10,param=228",
        );
        is_split(
            "class=ea,expver=1,stream=supd,date=20240101,time=0,domain=g,type=an,levtype=sfc,grid=1/1,step=0,param=34",
            "class=ea,expver=0001,stream=supd,date=20240101,time=0000,domain=g | type=an,levtype=sfc | step=0,param=34",
        );
        is_split(
            "class=rd,expver=abcd,stream=weov,date=20240101,time=0,type=fc,levtype=sfc,step=90m,number=1,param=swh",
            "class=rd,expver=abcd,stream=weov,date=20240101,time=0000 | type=fc,levtype=sfc | step=1h30m,number=1,param=140229",
        );
        is_split(
            "class=d1,dataset=climate-dt,activity=story,experiment=hist,generation=1,model=ifs,realization=1,expver=1,stream=clte,\
             date=19901231,resolution=high,type=fc,levtype=sfc,time=2300,param=167",
            "class=d1,dataset=climate-dt,activity=story,experiment=hist,generation=1,model=ifs,realization=1,expver=0001,stream=clte,\
             year=1990 | month=12,resolution=high,type=fc,levtype=sfc | date=19901231,time=2300,param=167",
        );
    }
}
