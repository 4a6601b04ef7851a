//! x
use penstock_transport::*; use penstock_transport::control::*; use penstock_transport::recovery::*; use penstock_units::*; use rand_pcg::Pcg32;
fn main(){
 let path=PathFacts{base_rtt:Time::from_us(8),line_rate:BitRate::from_gbps(100),bdp:Bytes::new(100_000),payload:1000,data_overhead:90};
 println!("sender {} nic {} receiver {}",size_of::<Sender>(),size_of::<Nic>(),size_of::<Receiver>());
 for (name,c) in [("line",ControllerConfig::LineRate{}),("window",ControllerConfig::Window(WindowConfig{bdp_factor:1.0})),("hpcc",ControllerConfig::Hpcc(HpccConfig{target_utilization:0.95,maximum_stage:5,additive_increase:Bytes::new(80),minimum_rate:BitRate::from_mbps(100),react:HpccReaction::PerAck})),
  ("dctcp",ControllerConfig::Dctcp(DctcpConfig{gain:0.0625,start:DctcpStart::LineRate,initial_window_packets:10,increase:Bytes::new(500),minimum_rate:BitRate::from_mbps(100)}))]{
 let h=HostConfig{controller:c,recovery:RecoveryConfig::GoBackN(GoBackNConfig{timeout:Time::from_ms(1),nack_interval:Time::from_us(500)}),nic:NicConfig{queues:32,reacts:true,scheduling:NicScheduling::RoundRobin}};
 let mut nic=Nic::new(&h.nic,1); let mut rng=Pcg32::new(1,1);
 let n=50; let mut f:Vec<Sender>=(0..n).map(|_|Sender::new(0,&h,&path,Time::ZERO)).collect();
 for s in 0..n {nic.start(s as u32,0,&mut f,&mut rng);}
 let mut r:Vec<Receiver>=(0..n).map(|_|Receiver::new(&h.recovery)).collect();
 let t=std::time::Instant::now(); let mut now=Time::from_us(1); let mut packets=0u64; let mut sent=0u64;
 while packets<5_000_000 {
   now+=Time::from_ps(87_200);
   if let Some(s)=nic.next(now,&mut f){ let seg=f[s as usize].send(now); nic.after_send(s,now,&mut f); packets+=1; sent+=1090;
     let Reply::Acknowledge{cumulative}=r[s as usize].on_data(now,seg.offset,seg.payload) else {panic!()};
     let hop=HopTelemetry{time:now,sent_bytes:sent,queue_bytes:20_000,rate:BitRate::from_gbps(100)};
     let a=Acknowledgement{cumulative,is_negative:false,is_marked:packets%64==0,sent_at:now,telemetry:&[hop;4]};
     f[s as usize].on_acknowledgement(now,&a); nic.on_change(s,now,&mut f);
   } else { now=nic.wake_at().unwrap().max(now); }
 }
 println!("{name} {:.1} ns per packet (send+data+ack), rate {:?}",t.elapsed().as_nanos() as f64/packets as f64,f[0].rate());
 }}
